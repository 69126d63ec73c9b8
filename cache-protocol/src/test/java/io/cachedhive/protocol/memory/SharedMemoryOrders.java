package io.cachedhive.protocol.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static io.cachedhive.protocol.memory.TestingMemory.firstWrongByte;

/**
 * What the writer of the shared memory and a reader may see of one another, in the smallest steps, for jcstress: it runs each of these millions of
 * times, in JVMs that compile the two sides in all ways, and counts what came out. Results are {@value MISS}, {@value RIGHT} and {@value WRONG}: of
 * the read of the old block, of the read of the new one after it, and of a read of the one that has to be there when all is over.
 *
 * <p>Each state has frames of its own in a file that all share: to map one for each would take far longer than the race.
 */
public final class SharedMemoryOrders
{
    private static final int MISS = 0;
    private static final int RIGHT = 1;
    private static final int WRONG = 2;

    private static final int BLOCK_SIZE = 64 << 10;
    private static final int LENGTH = 300;
    private static final long ETAG = 7;
    private static final int FRAMES_PER_STATE = 2;
    private static final TestingMemory MEMORY = map();
    private static final SharedMemoryReader READER = open();
    private static final int STATES = (int) (MEMORY.layout().unitCount() / FRAMES_PER_STATE);
    private static final Pair[] PAIRS = new Pair[STATES];
    private static long count;

    private SharedMemoryOrders() {}

    private static TestingMemory map()
    {
        try {
            return TestingMemory.create(Files.createTempFile("orders", null), MemoryLayout.forFileSize(64 << 20, BLOCK_SIZE));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SharedMemoryReader open()
    {
        Path file = MEMORY.file();
        try {
            SharedMemoryReader reader = SharedMemoryReader.open(file);
            // it stays mapped
            Files.delete(file);
            return reader;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Two blocks whose entries are in one bucket, and two frames, in the first of which is the first block.
     */
    private static final class Pair
    {
        final int oldFrame;
        final int newFrame;
        final long low;
        boolean shown;

        private Pair(int oldFrame, int newFrame, long low)
        {
            this.oldFrame = oldFrame;
            this.newFrame = newFrame;
            this.low = low;
        }

        /**
         * Takes the frames of one that is long over.
         */
        static synchronized Pair next()
        {
            int place = (int) (count % STATES);
            if (PAIRS[place] != null) {
                PAIRS[place].clear();
            }
            // spread over the buckets
            Pair pair = new Pair(FRAMES_PER_STATE * place, FRAMES_PER_STATE * place + 1, count * 0x9E3779B97F4A7C15L);
            count++;
            PAIRS[place] = pair;
            pair.show(pair.oldFrame, 1);
            return pair;
        }

        private void clear()
        {
            for (long high = 1; high <= 2; high++) {
                MEMORY.writer().removeEntry(high, low, oldFrame);
                MEMORY.writer().removeEntry(high, low, newFrame);
            }
            MEMORY.writer().withdrawFrame(oldFrame);
            MEMORY.writer().withdrawFrame(newFrame);
        }

        void show(int frame, long high)
        {
            long generation = MEMORY.put(frame, high, low, LENGTH, ETAG);
            // what was put may have found its bucket full
            shown = MEMORY.writer().putEntry(high, low, frame, generation);
        }

        int read(long high)
        {
            byte[] target = new byte[LENGTH];
            BlockInfo info = new BlockInfo();
            if (READER.read(high, low, 0, target, 0, LENGTH, info) == -1) {
                return MISS;
            }
            return firstWrongByte(target, 0, LENGTH, high, low, 0) == -1 && info.etagDigest() == ETAG ? RIGHT : WRONG;
        }

        int readWhatMustBeThere(long high)
        {
            return shown ? read(high) : RIGHT;
        }
    }

    /**
     * A block leaves, and another comes into its frame.
     */
    @JCStressTest
    @Outcome(id = "[01], [01], 1", expect = Expect.ACCEPTABLE, desc = "the block that was asked for, or a miss")
    @Outcome(expect = Expect.FORBIDDEN, desc = "other bytes, or a block that is never found")
    @State
    public static class FrameIsReused
    {
        private final Pair pair = Pair.next();

        @Actor
        public void write()
        {
            MEMORY.writer().removeEntry(1, pair.low, pair.oldFrame);
            pair.show(pair.oldFrame, 2);
        }

        @Actor
        public void read(III_Result result)
        {
            result.r1 = pair.read(1);
            result.r2 = pair.read(2);
        }

        @Arbiter
        public void after(III_Result result)
        {
            result.r3 = pair.read(1) == MISS ? pair.readWhatMustBeThere(2) : WRONG;
        }
    }

    /**
     * The same while the outdated entry stays.
     */
    @JCStressTest
    @Outcome(id = "[01], [01], 1", expect = Expect.ACCEPTABLE, desc = "the block that was asked for, or a miss")
    @Outcome(expect = Expect.FORBIDDEN, desc = "other bytes, or a block that is never found")
    @State
    public static class EntryIsOutdated
    {
        private final Pair pair = Pair.next();

        @Actor
        public void write()
        {
            pair.show(pair.oldFrame, 2);
        }

        @Actor
        public void read(III_Result result)
        {
            result.r1 = pair.read(1);
            result.r2 = pair.read(2);
        }

        @Arbiter
        public void after(III_Result result)
        {
            result.r3 = pair.read(1) == MISS ? pair.readWhatMustBeThere(2) : WRONG;
        }
    }

    /**
     * The entry of a block that leaves is taken by one in another frame.
     */
    @JCStressTest
    @Outcome(id = "[01], [01], 1", expect = Expect.ACCEPTABLE, desc = "the block that was asked for, or a miss")
    @Outcome(expect = Expect.FORBIDDEN, desc = "other bytes, or a block that is never found")
    @State
    public static class EntryIsReused
    {
        private final Pair pair = Pair.next();

        @Actor
        public void write()
        {
            MEMORY.writer().removeEntry(1, pair.low, pair.oldFrame);
            pair.show(pair.newFrame, 2);
        }

        @Actor
        public void read(III_Result result)
        {
            result.r1 = pair.read(1);
            result.r2 = pair.read(2);
        }

        @Arbiter
        public void after(III_Result result)
        {
            result.r3 = pair.read(1) == MISS ? pair.readWhatMustBeThere(2) : WRONG;
        }
    }

    /**
     * A frame is withdrawn and its bytes are taken away, as on a restart. Nothing has to be there when all is over.
     */
    @JCStressTest
    @Outcome(id = "[01], [01], 0", expect = Expect.ACCEPTABLE, desc = "the block that was asked for, or a miss")
    @Outcome(expect = Expect.FORBIDDEN, desc = "other bytes, or a block that was withdrawn")
    @State
    public static class FrameIsWithdrawn
    {
        private final Pair pair = Pair.next();

        @Actor
        public void write()
        {
            MEMORY.writer().withdrawFrame(pair.oldFrame);
            MEMORY.writer().payload(pair.oldFrame, LENGTH).fill((byte) 0);
        }

        @Actor
        public void read(III_Result result)
        {
            result.r1 = pair.read(1);
            result.r2 = pair.read(1);
        }

        @Arbiter
        public void after(III_Result result)
        {
            result.r3 = pair.read(1);
        }
    }
}
