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
 * Keeps tables with quotas within them. Guarded by the store's lock.
 */
final class TableLimit
{
    private static final int MAX_FREED_AT_ONCE = 64;

    private final RamFrames frames;
    private final TableQueues tableQueues;
    // frames that rest since their table has no room for them, and hold nothing when they have rested; each at most once, also if it was asked for meanwhile
    private final ArrayDeque<LeavingFrame> leaving = new ArrayDeque<>();

    TableLimit(RamFrames frames)
    {
        this.frames = requireNonNull(frames, "frames is null");
        this.tableQueues = frames.tableQueues();
    }

    private record LeavingFrame(Frame frame, long sinceNanos) {}

    /**
     * Blocks of a table leave for one of the same table, where it would have more than it may; few at once: what else a table has beyond a quota that became
     * smaller leaves by {@link #shrink}.
     *
     * @return whether there is room for it now
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
     * Evicts for its table's quota, and not for want of space.
     */
    private void leave(Frame frame, long now)
    {
        frames.classOf(frame).policy.remove(frame.entry);
        frames.rest(frame, now);
        restToLeave(frame, now);
    }

    /**
     * The frame is free when it has rested, if nobody asks for its block meanwhile.
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
     * Frees frames whose blocks left a while ago.
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
                // its rest began anew, or does when it is unpinned: those behind it need not wait for that
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
     * Evicts what a table has beyond its quota, which became smaller.
     *
     * @return whether there is more to be evicted
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
     * Puts blocks with such entries in order that came before their tables had quotas.
     *
     * @return whether there are entries beyond
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
