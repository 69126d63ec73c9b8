package io.cachedhive.store.ram;

import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.quota.TableQueues;
import io.cachedhive.store.ram.Frame.State;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * Limits the memory of tables with quotas. Guarded by the store's lock.
 */
final class TableLimit
{
    private static final int MAX_FREED_AT_ONCE = 64;

    private final RamFrames frames;
    private final TableQueues tableQueues;
    // frames evicted by a quota, to be freed after their rest; each at most once, even if it was requested meanwhile
    private final ArrayDeque<LeavingFrame> leaving = new ArrayDeque<>();

    TableLimit(RamFrames frames)
    {
        this.frames = requireNonNull(frames, "frames is null");
        this.tableQueues = frames.tableQueues();
    }

    private record LeavingFrame(Frame frame, long sinceNanos) {}

    /**
     * Evicts blocks of a table with a full quota for a new one. Evicts only a few at once: {@link #shrink} removes the
     * rest after a quota was lowered.
     *
     * @return whether the block now fits into the quota
     */
    boolean makeRoom(StoredTable table, BlockTerms terms, int length, long now)
    {
        if (table.hasRamRoom(length)) {
            return true;
        }
        if (length > table.limitBytes() || table.ramExcess(length) > tableQueues.bytes(table)) {
            return false;
        }
        long freed = 0;
        int beyond = 0;
        while (!table.hasRamRoom(length)) {
            if (freed >= length) {
                beyond++;
            }
            if (beyond > TableQueues.MAX_EXCESS_AT_ONCE) {
                return false;
            }
            int entry = tableQueues.pollVictim(table, frames.policyClass(terms));
            if (entry == TableQueues.NO_ENTRY) {
                return false;
            }
            freed += frames.of(entry).length;
            leave(frames.of(entry), now);
        }
        return true;
    }

    /**
     * Evicts a block because of its table's quota, not because of lack of space.
     */
    private void leave(Frame frame, long now)
    {
        frames.classOf(frame).policy.remove(frame.entry);
        frames.rest(frame, now);
        restToLeave(frame, now);
    }

    /**
     * Queues a frame to be freed after its rest, unless its block is requested meanwhile.
     */
    void restToLeave(Frame frame, long now)
    {
        (frame.pins > 0 ? frames.classOf(frame).held : frames.classOf(frame).resting).addLast(frame);
        frame.leaves = true;
        if (!frame.inLeaving) {
            addLeaving(frame, now);
        }
    }

    private void addLeaving(Frame frame, long now)
    {
        frame.inLeaving = true;
        leaving.add(new LeavingFrame(frame, now));
    }

    /**
     * Frees queued frames whose rest is over.
     *
     * @return whether there may be more
     */
    boolean freeLeft(long now)
    {
        for (int i = 0; i < MAX_FREED_AT_ONCE; i++) {
            if (leaving.isEmpty() || now - leaving.peek().sinceNanos < RamFrames.REST_NANOS) {
                return false;
            }
            Frame frame = leaving.remove().frame;
            frame.inLeaving = false;
            if (frame.state != State.RESTING || !frame.leaves || frame.slab().draining) {
                continue;
            }
            if (frame.pins > 0 || now - frame.restsSinceNanos < RamFrames.REST_NANOS) {
                // requeued because its rest restarts, now or when it is unpinned; frames behind it need not wait
                addLeaving(frame, now);
            }
            else {
                frame.list.remove(frame);
                frames.forget(frame);
                frames.free(frame);
            }
        }
        return !leaving.isEmpty();
    }

    /**
     * Evicts blocks of a table that exceeds its quota.
     *
     * @return whether more blocks have to be evicted
     */
    boolean shrink(StoredTable table, int maxCount, long now)
    {
        for (int i = 0; i < maxCount && !table.hasRamRoom(0); i++) {
            int entry = tableQueues.pollAny(table);
            if (entry == TableQueues.NO_ENTRY) {
                return false;
            }
            leave(frames.of(entry), now);
        }
        return !table.hasRamRoom(0);
    }

    /**
     * Adds entries that are older than their table's quota to the table's queues.
     *
     * @return whether there are entries after the range
     */
    boolean order(int firstEntry, int endEntry)
    {
        for (int entry = firstEntry; entry < Math.min(endEntry, frames.entryLimit()); entry++) {
            Frame frame = frames.of(entry);
            if (frame != null && frame.state == State.LIVE) {
                tableQueues.addColdest(frame.table, entry, frames.policyClass(frame.terms), frames.classOf(frame).policy.part(entry));
            }
        }
        return endEntry < frames.entryLimit();
    }

    void checkInvariants()
    {
        Set<Frame> left = Collections.newSetFromMap(new IdentityHashMap<>());
        leaving.forEach(entry -> verify(entry.frame.inLeaving && left.add(entry.frame), "frame %s is twice among those that leave", entry.frame.number()));
    }
}
