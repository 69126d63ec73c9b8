package io.cachedhive.worker.flush;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.worker.state.DurableLog;
import io.cachedhive.worker.state.StateDirectory;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The tombstones of the last thirty days that this worker knows, and which of them it has done. They survive a restart: what was begun is done again, and what was done is
 * not, so that it takes nothing that was cached since.
 *
 * <p>A tombstone is superfluous, and forgotten, when another one that was made well after it covers the same files and more. All workers come to the same ones, in whatever
 * order they learn of them, since that depends on the tombstones alone.
 *
 * <p>The file is {@code tombstones}, see {@link DurableLog}. Not safe for use by several threads.
 */
final class TombstoneLog
{
    private static final Logger log = Logger.get(TombstoneLog.class);

    static final int MAX_TOMBSTONES = 1 << 14;

    private static final DurableLog.Format<Tombstone> FORMAT = new DurableLog.Format<>(
            "tombstones",
            0x3142544f4d424843L, // CHBMOTB1
            Tombstone::id,
            WireForms::readTombstone,
            WireForms::writeTombstone);
    // much more than clocks of coordinators differ by
    private static final long SUPERFLUOUS_MILLIS = Duration.ofMinutes(10).toMillis();

    private final DurableLog<Tombstone> book;
    // of the same, so that a new one is not compared with all
    private final LocationIndex<Tombstone> byLocation = LocationIndex.ofTombstones(List.of());

    private final boolean trusted;

    private TombstoneLog(DurableLog<Tombstone> book, boolean trusted)
    {
        this.book = book;
        this.trusted = trusted;
        book.all().forEach(byLocation::add);
    }

    /**
     * Reads what the last run left.
     *
     * @param restored whether the worker has files that an earlier run cached: that run had a file of tombstones before
     *         it cached anything
     */
    static TombstoneLog open(StateDirectory state, boolean restored, long nowMillis)
    {
        DurableLog<Tombstone> book = DurableLog.open(state, FORMAT, nowMillis);
        switch (book.found()) {
            case OUTDATED -> log.warn("This cache worker %s, longer than flushes are kept: starting empty", book.problem());
            case DAMAGED -> log.warn(
                    "Cannot read the flushes in %s (%s): starting empty, because applied flushes are unknown",
                    state.path().resolve(FORMAT.name()),
                    book.problem());
            case NOTHING -> {
                if (restored) {
                    log.warn(
                            "There are blocks of an earlier run, but no file %s: it is unknown which of them were flushed, so the cache worker starts empty",
                            state.path().resolve(FORMAT.name()));
                }
            }
            case ALL, UNVOUCHED -> {}
        }
        boolean trusted = switch (book.found()) {
            case NOTHING -> !restored;
            case ALL -> true;
            case UNVOUCHED, OUTDATED, DAMAGED -> false;
        };
        return new TombstoneLog(book, trusted);
    }

    /**
     * Whether all that is not in the book, nor done, is known to be no more than what others have; otherwise everything that was cached has to go.
     */
    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * Those that are new here and not superfluous, in no order.
     *
     * @return empty if there would be too many
     */
    Optional<List<Tombstone>> add(Collection<Tombstone> learned, long nowMillis)
    {
        List<Tombstone> added = new ArrayList<>();
        for (Tombstone tombstone : learned) {
            boolean superfluous = isForgotten(tombstone, nowMillis) ||
                    byLocation.covering(tombstone.origin(), tombstone.location()).stream().anyMatch(known -> makesSuperfluous(known, tombstone));
            if (!superfluous && book.put(tombstone)) {
                byLocation.add(tombstone);
                added.add(tombstone);
            }
        }
        if (book.size() > MAX_TOMBSTONES) {
            forget(nowMillis);
        }
        if (book.size() > MAX_TOMBSTONES) {
            added.forEach(this::remove);
            return Optional.empty();
        }
        return Optional.of(added);
    }

    private static boolean isForgotten(Tombstone tombstone, long nowMillis)
    {
        return nowMillis - tombstone.createdMillis() > DurableLog.KEPT.toMillis();
    }

    private static boolean makesSuperfluous(Tombstone later, Tombstone earlier)
    {
        return later.createdMillis() - earlier.createdMillis() > SUPERFLUOUS_MILLIS && later.covers(earlier);
    }

    List<Tombstone> notDone()
    {
        return book.all().stream().filter(tombstone -> !book.isDone(tombstone)).toList();
    }

    /**
     * They are done, and what they make superfluous is forgotten.
     */
    void setDone(Collection<Tombstone> finished, long nowMillis)
    {
        for (Tombstone tombstone : finished) {
            book.setDone(tombstone);
            byLocation.within(tombstone.origin(), tombstone.location()).stream()
                    .filter(earlier -> makesSuperfluous(tombstone, earlier))
                    .toList()
                    .forEach(this::remove);
        }
        forget(nowMillis);
    }

    /**
     * Those that are older than any is kept.
     */
    void forget(long nowMillis)
    {
        book.all().stream()
                .filter(tombstone -> isForgotten(tombstone, nowMillis))
                .toList()
                .forEach(this::remove);
    }

    private void remove(Tombstone tombstone)
    {
        if (book.remove(tombstone)) {
            byLocation.remove(tombstone);
        }
    }

    /**
     * Exclusive or of the ids of those that are done.
     */
    Digest128 doneXor()
    {
        return book.doneXor();
    }

    /**
     * Those that are done, in the order of their ids.
     *
     * @param after only ids beyond this one
     */
    List<Tombstone> done(Digest128 after, int maxCount)
    {
        return book.page(after, maxCount, book::isDone);
    }

    Set<Digest128> doneIds()
    {
        return book.doneIds();
    }

    void save(long nowMillis)
            throws IOException
    {
        book.save(nowMillis);
    }
}
