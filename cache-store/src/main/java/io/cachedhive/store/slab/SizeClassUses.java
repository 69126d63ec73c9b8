package io.cachedhive.store.slab;

/**
 * Measures how much each size class uses its places, to decide which class gets slabs. A use counts as the fraction of
 * the place that the block fills. So classes are compared by the bytes of reads that they save per byte of capacity.
 * Older uses count less. Guarded by the store's lock.
 */
public final class SizeClassUses
{
    /**
     * The value for no size class.
     */
    public static final int NONE = -1;

    // a slab moves if one class uses its places this much more than the other
    private static final double MIN_USE_RATIO = 2;
    // a class that uses its places less than this gives slabs to any class that needs some
    private static final double HARDLY_USED = 1.0 / 64;

    private final int[] placeCounts;
    // in units of full places
    private final double[] uses;
    private int placeCount;
    // since the last halving of the uses
    private long requests;

    /**
     * @param count number of size classes
     */
    public SizeClassUses(int count)
    {
        placeCounts = new int[count];
        uses = new double[count];
    }

    /**
     * Returns the number of places of all classes.
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
     * Adds the places of a new slab. They count as used as much as the best class's, because they had no chance to be
     * used yet.
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
     * Removes the places of a slab that changes its class.
     */
    public void removePlaces(int sizeClass, int count)
    {
        uses[sizeClass] -= count * usesPerPlace(sizeClass);
        placeCounts[sizeClass] -= count;
        placeCount -= count;
    }

    /**
     * Records a request, whether it is a hit or not.
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
     * Records a hit.
     *
     * @param filled fraction of its place that the block fills, up to 1
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
     * Returns the class that uses its places least, if it uses them much less than the given class.
     *
     * @param recipient the class that has to evict; if it has no places, any class can give
     * @return {@link #NONE} if no slab should move
     */
    public int donorFor(int recipient)
    {
        int donor = NONE;
        double lowest = placeCounts[recipient] == 0 ? Double.POSITIVE_INFINITY : Math.max(HARDLY_USED, usesPerPlace(recipient) / MIN_USE_RATIO);
        for (int i = 0; i < uses.length; i++) {
            if (i != recipient && placeCounts[i] > 0 && usesPerPlace(i) < lowest) {
                donor = i;
                lowest = usesPerPlace(i);
            }
        }
        return donor;
    }
}
