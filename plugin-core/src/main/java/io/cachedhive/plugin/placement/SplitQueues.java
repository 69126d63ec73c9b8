package io.cachedhive.plugin.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import static io.airlift.slice.SizeOf.instanceSize;
import static java.util.Objects.requireNonNull;

/**
 * The lines in which the splits of one scan wait for readers: one line for each reader, of the splits that prefer it.
 *
 * <p>The engine uses preferred nodes only, and takes no further batch while one split waits. It goes through all that wait, in the order in which it was given
 * them, whenever one of the nodes that they asked for has space: a round. It does not tell what it did with a split, but asks in the next round about those
 * that still wait. So the lines are known as they were a round ago, without a clock and without a word from the nodes.
 *
 * <p>A split asks for its reader alone as long as it may expect to be taken there (delay scheduling: Zaharia et al., 2010). It asks for the next readers in
 * its chunk's order as well where their lines are no longer than what is before it in its own: these are done with their own splits by the time it would be
 * its turn, since readers whose splits come first in a round are asked for them first ({@link Split#turn}). The last of each line always ask for others too:
 * the engine would not wake up for the space of a node that nobody asks for, and a slow reader would hold up the batch. Who asked for others
 * {@link #WIDENED_ROUNDS} times runs anywhere.
 */
public final class SplitQueues
{
    private static final int MORE_READERS = 2;
    private static final int LAST = 3;
    private static final int WIDENED_ROUNDS = 3;

    private final Map<CacheWorkerId, List<HostAndPort>> nodes;

    // guarded by this
    private final Map<CacheWorkerId, Line> lines = new HashMap<>();
    private long round = 1;

    /**
     * @param nodes the Trino workers beside each reader
     */
    public SplitQueues(Map<CacheWorkerId, List<HostAndPort>> nodes)
    {
        this.nodes = requireNonNull(nodes, "nodes is null");
    }

    private static final class Line
    {
        private int joined;
        private long round;
        // in the round, and in the one before
        private int asked;
        private int length;

        private void advance(long now)
        {
            if (round != now) {
                length = round == now - 1 ? asked : 0;
                asked = 0;
                round = now;
            }
        }
    }

    /**
     * A split in a line.
     */
    public final class Split
    {
        static final int INSTANCE_SIZE = instanceSize(Split.class);

        private final CacheWorkerId reader;
        private final int turn;
        // null until others than the reader are asked for; then the others
        private Supplier<List<CacheWorkerId>> findNext;
        private List<CacheWorkerId> next;
        // of the last question; the round is 0 before the first
        private long round;
        private int position;
        private int widened;

        private Split(CacheWorkerId reader, int turn, Supplier<List<CacheWorkerId>> findNext)
        {
            this.reader = requireNonNull(reader, "reader is null");
            this.turn = turn;
            this.findNext = requireNonNull(findNext, "findNext is null");
        }

        /**
         * How many were in the line before this one. Splits have to be given to the engine in this order.
         */
        int turn()
        {
            return turn;
        }

        /**
         * The nodes to ask for in this round; empty for any.
         */
        List<HostAndPort> ask()
        {
            return SplitQueues.this.ask(this);
        }
    }

    /**
     * The engine asks for splits when none waits any more.
     */
    synchronized void beginBatch()
    {
        lines.clear();
        round++;
    }

    /**
     * @param findNext readers after this one in the chunk's order, nearest first; not called before they are needed
     */
    public synchronized Split join(CacheWorkerId reader, Supplier<List<CacheWorkerId>> findNext)
    {
        return new Split(reader, line(reader).joined++, findNext);
    }

    private Line line(CacheWorkerId reader)
    {
        return lines.computeIfAbsent(reader, _ -> new Line());
    }

    private synchronized List<HostAndPort> ask(Split split)
    {
        if (split.round == round) {
            // in a round the engine asks about each split once
            round++;
        }
        Line line = line(split.reader);
        line.advance(round);
        boolean first = split.round == 0;
        boolean last = split.position >= line.length - LAST;
        split.round = round;
        split.position = line.asked++;
        List<HostAndPort> own = nodes.get(split.reader);
        if (first) {
            return own;
        }
        if (split.next == null) {
            split.next = split.findNext.get();
            split.findNext = null;
        }
        List<HostAndPort> asked = new ArrayList<>(own);
        // without other readers there may be nodes without a cache worker
        boolean elsewhere = last || split.next.isEmpty();
        for (CacheWorkerId reader : split.next.subList(0, Math.min(MORE_READERS, split.next.size()))) {
            Line other = line(reader);
            other.advance(round);
            if (last || other.length <= split.position) {
                asked.addAll(nodes.get(reader));
                elsewhere = true;
            }
        }
        if (elsewhere && ++split.widened > WIDENED_ROUNDS) {
            return List.of();
        }
        return asked;
    }
}
