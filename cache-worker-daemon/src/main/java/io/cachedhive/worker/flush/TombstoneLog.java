package io.cachedhive.worker.flush;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.time.ClockSkew;
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
 * The tombstones of the last thirty days that this worker knows, and which of them it has applied. The log survives a
 * restart. Unfinished tombstones are applied again; applied ones are not, to keep blocks cached since.
 *
 * <p>A tombstone is redundant, and removed, when a tombstone that was created sufficiently later covers the same files
 * or more. This depends only on the tombstones, so all workers keep the same ones in whatever order they arrive.
 *
 * <p>The file is {@code tombstones}, see {@link DurableLog}. Not safe for use by several threads.
 */
final class TombstoneLog
{
    private static final Logger log = Logger.get(TombstoneLog.class);

    static final int MAX_TOMBSTONES = 1 << 14;
    // beyond this, only flushes that users request
    static final int MAX_TOMBSTONES_OF_REMOVED = MAX_TOMBSTONES / 2;

    private static final DurableLog.Format<Tombstone> FORMAT = new DurableLog.Format<>(
            "tombstones",
            0x3142544f4d424843L, // CHBMOTB1
            Tombstone::id,
            WireForms::readTombstone,
            WireForms::writeTombstone,
            Tombstone::createdNotAfter);
    // much more than the clocks of coordinators differ
    private static final long SUPERFLUOUS_MILLIS = Duration.ofMinutes(10).toMillis();

    private final DurableLog<Tombstone> book;
    // the same tombstones, so that a new one is not compared with all of them
    private final LocationIndex<Tombstone> byLocation = LocationIndex.ofTombstones(List.of());

    private final boolean trusted;

    private TombstoneLog(DurableLog<Tombstone> book, boolean trusted)
    {
        this.book = book;
        this.trusted = trusted;
        book.all().forEach(byLocation::add);
    }

    /**
     * Reads the file of the last run.
     *
     * @param restored whether the worker has files that an earlier run cached; that run created the file of tombstones
     * before it cached anything
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
     * Returns whether other workers know every flush that this log lacks. If not, all blocks must be dropped.
     */
    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * Adds tombstones that are new and not redundant.
     *
     * @return the added tombstones in no order; empty if there would be too many
     */
    Optional<List<Tombstone>> add(Collection<Tombstone> learned, long nowMillis)
    {
        List<Tombstone> added = new ArrayList<>();
        for (Tombstone tombstone : learned) {
            // peers accept no tombstone of the future from clients, so only a host with a wrong clock has one
            boolean superfluous = isForgotten(tombstone, nowMillis) || ClockSkew.isAhead(tombstone.createdMillis(), nowMillis) ||
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

    /**
     * Returns whether this many flushes of files that statements removed may be added.
     */
    boolean hasRoomForRemoved(int count, long nowMillis)
    {
        if (book.size() + count > MAX_TOMBSTONES_OF_REMOVED) {
            forget(nowMillis);
        }
        return book.size() + count <= MAX_TOMBSTONES_OF_REMOVED;
    }

    List<Tombstone> notDone()
    {
        return book.all().stream().filter(tombstone -> !book.isDone(tombstone)).toList();
    }

    /**
     * Marks tombstones as applied, and removes those that they make redundant.
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
     * Removes tombstones that are older than the retention time.
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
     * Returns the XOR of the ids of the applied tombstones.
     */
    Digest128 doneXor()
    {
        return book.doneXor();
    }

    /**
     * Returns a page of the applied tombstones sorted by id.
     *
     * @param after only tombstones with a greater id
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
