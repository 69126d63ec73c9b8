package io.cachedhive.store.slab;

/**
 * How much each size class makes of its places, and hence to which class slabs should go. What is used of a place is the share of it that the block
 * fills, so that classes are compared by the bytes that they save of reading, for the bytes that they take. Uses of long ago count less and
 * less. Guarded by the store's lock.
 */
public final class SizeClassUses
{
    /**
     * Instead of a size class: there is none.
     */
    public static final int NONE = -1;

    // slabs move between classes of which one makes so much more of its places than the other
    private static final double MIN_USE_RATIO = 2;
    // and from a class that makes so little of them to whoever needs some
    private static final double HARDLY_USED = 1.0 / 64;

    private final int[] placeCounts;
    // of whole places
    private final double[] uses;
    private int placeCount;
    // since the uses were halved
    private long requests;

    /**
     * @param count of size classes
     */
    public SizeClassUses(int count)
    {
        placeCounts = new int[count];
        uses = new double[count];
    }

    /**
     * Of all classes.
     */
    public int placeCount()
    {
        return placeCount;
    }

    public int placeCount(int sizeClass)
    {
        return placeCounts[sizeClass];
    }

    /**
     * A slab was cut. Its places could not be used yet: they pass for as good as those of any class.
     */
    public void addPlaces(int sizeClass, int count)
    {
        double best = 0;
        for (int i = 0; i < uses.length; i++) {
            best = Math.max(best, usesPerPlace(i));
        }
        uses[sizeClass] += count * best;
        placeCounts[sizeClass] += count;
        placeCount += count;
    }

    /**
     * A slab is to be another class's.
     */
    public void removePlaces(int sizeClass, int count)
    {
        uses[sizeClass] -= count * usesPerPlace(sizeClass);
        placeCounts[sizeClass] -= count;
        placeCount -= count;
    }

    /**
     * Something was asked for, whether it is here or not.
     */
    public void request()
    {
        requests++;
        if (requests > placeCount) {
            requests = 0;
            for (int i = 0; i < uses.length; i++) {
                uses[i] /= 2;
            }
        }
    }

    /**
     * What was asked for is here.
     *
     * @param filled of its place, up to 1
     */
    public void use(int sizeClass, double filled)
    {
        uses[sizeClass] += filled;
        request();
    }

    private double usesPerPlace(int sizeClass)
    {
        return placeCounts[sizeClass] == 0 ? 0 : uses[sizeClass] / placeCounts[sizeClass];
    }

    /**
     * The class that uses its places least, if it does so much less than the one that needs some.
     *
     * @param taker the class that has to evict; without any place, it takes from whoever has the least use of his
     * @return {@link #NONE} if it is as it should be
     */
    public int giverFor(int taker)
    {
        int giver = NONE;
        double lowest = placeCounts[taker] == 0 ? Double.POSITIVE_INFINITY : Math.max(HARDLY_USED, usesPerPlace(taker) / MIN_USE_RATIO);
        for (int i = 0; i < uses.length; i++) {
            if (i != taker && placeCounts[i] > 0 && usesPerPlace(i) < lowest) {
                giver = i;
                lowest = usesPerPlace(i);
            }
        }
        return giver;
    }
}
