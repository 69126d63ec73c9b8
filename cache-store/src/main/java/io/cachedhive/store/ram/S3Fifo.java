package io.cachedhive.store.ram;

import static java.util.Objects.requireNonNull;

/**
 * S3-FIFO (Yang and others, "FIFO queues are all you need for cache eviction", SOSP 2023): new blocks wait in a small queue, a tenth of all; those
 * that are used there move on to the main queue, the others leave and are remembered as ghosts; a ghost that comes back goes to the
 * main queue at once. The main queue gives each block as many second chances as it was used, up to three. A scan of blocks
 * that are read once thus passes through the small queue and leaves the main one alone.
 */
final class S3Fifo
        implements EvictionPolicy
{
    private static final int MAX_FREQUENCY = 3;
    private static final int SMALL_SHARE = 10;

    private final FrameList small = new FrameList();
    private final FrameList main = new FrameList();
    private final Ghosts ghosts;

    S3Fifo(Ghosts ghosts)
    {
        this.ghosts = requireNonNull(ghosts, "ghosts is null");
    }

    @Override
    public void add(Frame frame)
    {
        frame.frequency = 0;
        (ghosts.remove(frame.digest) ? main : small).addLast(frame);
    }

    @Override
    public void use(Frame frame)
    {
        if (frame.frequency < MAX_FREQUENCY) {
            frame.frequency++;
        }
    }

    @Override
    public void remove(Frame frame)
    {
        frame.list.remove(frame);
    }

    @Override
    public Frame pollVictim()
    {
        // every frame is passed over at most so often: pinned once in either queue, and once for each chance that it has
        int steps = small.size() + (MAX_FREQUENCY + 2) * main.size() + 1;
        int pinnedInSmall = 0;
        while (steps-- > 0) {
            boolean fromSmall = small.size() > pinnedInSmall && (main.isEmpty() || small.size() > (small.size() + main.size()) / SMALL_SHARE);
            if (fromSmall) {
                Frame frame = small.first();
                if (frame.pins > 0) {
                    small.moveToLast(frame);
                    pinnedInSmall++;
                }
                else if (frame.frequency > 1) {
                    frame.frequency = 0;
                    small.remove(frame);
                    main.addLast(frame);
                    steps += MAX_FREQUENCY + 2;
                }
                else {
                    small.remove(frame);
                    ghosts.add(frame.digest);
                    return frame;
                }
            }
            else {
                Frame frame = main.first();
                if (frame == null) {
                    return null;
                }
                if (frame.pins > 0) {
                    main.moveToLast(frame);
                }
                else if (frame.frequency > 0) {
                    frame.frequency--;
                    main.moveToLast(frame);
                }
                else {
                    main.remove(frame);
                    return frame;
                }
            }
        }
        // the main queue is pinned throughout; the small one may have what is not
        for (Frame frame = small.first(); frame != null; frame = frame.next) {
            if (frame.pins == 0) {
                small.remove(frame);
                ghosts.add(frame.digest);
                return frame;
            }
        }
        return null;
    }

    @Override
    public Frame peek()
    {
        return main.isEmpty() ? small.first() : main.first();
    }
}
