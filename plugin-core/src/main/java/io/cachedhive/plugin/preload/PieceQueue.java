package io.cachedhive.plugin.preload;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * Pieces that wait to be sent, by their owners on the newest ring, a few at a time to each. An owner that is away is tried again, with ever longer pauses, and
 * its pieces wait meanwhile; only when it has been away for long are they given up. Where the ring changes, what still waits goes to the new owners.
 *
 * <p>Not thread-safe. Times are those of {@link System#nanoTime}.
 */
public final class PieceQueue
{
    /**
     * A piece that fails that often, while its owner takes others, is at fault itself.
     */
    static final int MAX_ATTEMPTS = 20;

    private static final String NOBODY = "no cache worker answers any more: see the table cache.stats for the reason";

    /**
     * @param piecesPerOwner that are under way at once
     * @param minPause after an owner failed for the first time; doubled with each further time
     * @param giveUpAfter an owner that was away for so long is waited for no more, but for one piece after each longest pause
     */
    public record Patience(int piecesPerOwner, Duration minPause, Duration maxPause, Duration giveUpAfter)
    {
        /**
         * An owner that is restarted is back within two minutes; one that is not has left the ring by then, or the cluster has other troubles.
         */
        public static final Patience DEFAULT = new Patience(4, Duration.ofMillis(250), Duration.ofSeconds(10), Duration.ofMinutes(2));

        public Patience
        {
            checkArgument(piecesPerOwner > 0, "piecesPerOwner is not positive: %s", piecesPerOwner);
            checkArgument(minPause.isPositive() && maxPause.compareTo(minPause) >= 0, "not pauses: %s to %s", minPause, maxPause);
            requireNonNull(giveUpAfter, "giveUpAfter is null");
        }

        long pauseNanos(int failures)
        {
            long min = minPause.toNanos();
            return Math.min(maxPause.toNanos(), min << Math.min(failures - 1, Long.numberOfLeadingZeros(min) - 1));
        }
    }

    /**
     * A piece on its way to its owner. Is to be ended by {@link #answered} or {@link #failed}.
     */
    record Sending(CacheWorkerId owner, WorkerAddress address, PreloadPiece piece, int attempt) {}

    record GivenUp(PreloadPiece piece, String problem) {}

    private record Waiting(PreloadPiece piece, int attempts) {}

    private static final class Lane
    {
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private int sent;
        // in a row; the next two mean nothing while there are none
        private int failures;
        private long firstFailureNanos;
        private long notBeforeNanos;
    }

    private final Patience patience;
    // by owner; that of nobody is for pieces without an owner
    private final Map<Optional<CacheWorkerId>, Lane> lanes = new LinkedHashMap<>();
    private final List<GivenUp> givenUp = new ArrayList<>();
    private Optional<PublishedRing> ring = Optional.empty();
    private int waiting;
    private int sent;

    public PieceQueue(Patience patience)
    {
        this.patience = requireNonNull(patience, "patience is null");
    }

    /**
     * Takes the newest ring, and gives what waits to its owners on that.
     */
    void update(Optional<PublishedRing> newest)
    {
        Optional<RingEpoch> before = ring.map(PublishedRing::epoch);
        ring = newest;
        if (newest.map(PublishedRing::epoch).equals(before)) {
            return;
        }
        List<Waiting> all = new ArrayList<>(waiting);
        lanes.values().forEach(lane -> {
            all.addAll(lane.waiting);
            lane.waiting.clear();
        });
        lanes.values().removeIf(lane -> lane.sent == 0);
        all.forEach(piece -> lane(owner(piece.piece())).waiting.add(piece));
    }

    private Optional<CacheWorkerId> owner(PreloadPiece piece)
    {
        return ring.flatMap(known -> known.ring().owner(piece.chunk()));
    }

    private Lane lane(Optional<CacheWorkerId> owner)
    {
        return lanes.computeIfAbsent(owner, _ -> new Lane());
    }

    void add(PreloadPiece piece)
    {
        lane(owner(piece)).waiting.add(new Waiting(piece, 0));
        waiting++;
    }

    /**
     * A piece that may be sent now. Looks at {@link #takeGivenUp} afterwards: owners without an address are found out here.
     */
    Optional<Sending> poll(long nowNanos)
    {
        for (Map.Entry<Optional<CacheWorkerId>, Lane> entry : lanes.entrySet()) {
            Lane lane = entry.getValue();
            if (lane.waiting.isEmpty() || lane.sent >= patience.piecesPerOwner()) {
                continue;
            }
            // one piece is enough to find out whether it is back
            if (lane.failures > 0 && (lane.sent > 0 || nowNanos - lane.notBeforeNanos < 0)) {
                continue;
            }
            Optional<WorkerAddress> address = entry.getKey().flatMap(owner -> ring.flatMap(known -> known.address(owner)));
            if (address.isEmpty()) {
                away(lane, nowNanos, entry.getKey()
                        .map("no cache worker answers for the chunks of %s: see the table cache.nodes for the missing ones"::formatted)
                        .orElse(NOBODY));
                continue;
            }
            Waiting next = lane.waiting.poll();
            waiting--;
            lane.sent++;
            sent++;
            return Optional.of(new Sending(entry.getKey().orElseThrow(), address.get(), next.piece(), next.attempts() + 1));
        }
        return Optional.empty();
    }

    /**
     * @return when to ask {@link #poll} again at the latest, if nothing else happens before; empty if only an answer or another piece changes anything
     */
    OptionalLong nextNanos()
    {
        return lanes.values().stream()
                .filter(lane -> !lane.waiting.isEmpty() && lane.failures > 0 && lane.sent == 0)
                .mapToLong(lane -> lane.notBeforeNanos)
                .reduce((one, other) -> one - other < 0 ? one : other);
    }

    /**
     * The owner answered, whatever it said.
     */
    void answered(Sending sending)
    {
        end(sending).failures = 0;
    }

    /**
     * The owner did not answer: it is tried again later.
     *
     * @param problem one sentence
     */
    void failed(Sending sending, long nowNanos, String problem)
    {
        Lane lane = end(sending);
        if (sending.attempt() >= MAX_ATTEMPTS) {
            givenUp.add(new GivenUp(sending.piece(), problem));
        }
        else {
            // behind the others: they are not to wait for a piece that brings its owner down
            lane(owner(sending.piece())).waiting.add(new Waiting(sending.piece(), sending.attempt()));
            waiting++;
        }
        away(lane, nowNanos, problem);
    }

    private Lane end(Sending sending)
    {
        sent--;
        Lane lane = lane(Optional.of(sending.owner()));
        lane.sent--;
        return lane;
    }

    private void away(Lane lane, long nowNanos, String problem)
    {
        if (lane.failures == 0) {
            lane.firstFailureNanos = nowNanos;
        }
        else if (nowNanos - lane.notBeforeNanos < 0) {
            // it was under way together with the one that failed before
            return;
        }
        lane.failures++;
        lane.notBeforeNanos = nowNanos + patience.pauseNanos(lane.failures);
        if (nowNanos - lane.firstFailureNanos >= patience.giveUpAfter().toNanos()) {
            lane.waiting.forEach(piece -> givenUp.add(new GivenUp(piece.piece(), problem)));
            waiting -= lane.waiting.size();
            lane.waiting.clear();
        }
    }

    /**
     * Those that were given up since this was last called.
     */
    List<GivenUp> takeGivenUp()
    {
        List<GivenUp> taken = List.copyOf(givenUp);
        givenUp.clear();
        return taken;
    }

    /**
     * Pieces that wait.
     */
    int size()
    {
        return waiting;
    }

    /**
     * Whether nothing waits and nothing is under way.
     */
    boolean isIdle()
    {
        return waiting == 0 && sent == 0;
    }

    void clear()
    {
        lanes.values().forEach(lane -> lane.waiting.clear());
        waiting = 0;
    }
}
