package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.node.ArrayNode;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The bytes that were read between two samples, by source, of the last hour.
 */
final class HitRateHistory
{
    private static final Duration LENGTH = Duration.ofHours(1);
    // one each 2 s; with a shorter interval, the history is shorter
    private static final int MAX_POINTS = 1800;

    // by host, of the last sample with an answer of it
    private final Map<String, WorkerState> last = new HashMap<>();
    private final Deque<Point> points = new ArrayDeque<>();

    /**
     * The bytes read in the time before a sample.
     *
     * @param timeMillis of the sample, in milliseconds since the Unix epoch
     * @param hitBytes read from RAM, SSD, and cache workers of other hosts
     * @param remoteBytes read from the object store into the cache
     * @param bypassBytes read from the object store by the readers themselves
     */
    record Point(long timeMillis, long hitBytes, long remoteBytes, long bypassBytes) {}

    /**
     * Adds a sample. The first sample of a cache worker, and the first one after it has lost its counters, has nothing to compare with.
     */
    synchronized void add(long timeMillis, Collection<WorkerState> workers)
    {
        long hits = 0;
        long remote = 0;
        long bypass = 0;
        boolean compared = false;
        for (WorkerState now : workers) {
            if (!now.isCounted()) {
                continue;
            }
            WorkerState before = last.put(now.host(), now);
            if (before != null && before.sinceMillis().equals(now.sinceMillis()) && !now.isBelow(before)) {
                compared = true;
                hits += now.hitBytes() - before.hitBytes();
                remote += now.remoteBytes() - before.remoteBytes();
                bypass += now.bypassBytes() - before.bypassBytes();
            }
        }
        if (compared) {
            points.add(new Point(timeMillis, hits, remote, bypass));
        }
        while (points.size() > MAX_POINTS || (!points.isEmpty() && points.getFirst().timeMillis() <= timeMillis - LENGTH.toMillis())) {
            points.removeFirst();
        }
    }

    synchronized List<Point> points()
    {
        return List.copyOf(points);
    }

    /**
     * Adds the points in the order of their times, each as a list: time, bytes of hits, bytes of remote reads, bytes of bypass.
     */
    void describe(ArrayNode list)
    {
        points().forEach(point -> list.addArray().add(point.timeMillis()).add(point.hitBytes()).add(point.remoteBytes()).add(point.bypassBytes()));
    }
}
