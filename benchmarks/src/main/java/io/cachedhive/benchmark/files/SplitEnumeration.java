package io.cachedhive.benchmark.files;

import io.cachedhive.plugin.ahead.ScanAnnouncements;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static java.util.Objects.requireNonNull;

/**
 * Hands out the files of a scan as the engine does: it takes splits from the connector in batches, some time before they run, and the connector announces them.
 */
final class SplitEnumeration
{
    /// query.schedule-split-batch-size
    private static final int BATCH_FILES = 1000;
    /// query.max-unacknowledged-splits-per-task and node-scheduler.max-splits-per-node let so many of such small splits wait at least
    private static final int AHEAD_FILES = 2000;

    private final LakeHost host;
    private final LakeFiles files;
    private final ScanAnnouncements announcements;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger announced = new AtomicInteger();

    SplitEnumeration(LakeHost host, LakeFiles files)
    {
        this.host = requireNonNull(host, "host is null");
        this.files = requireNonNull(files, "files is null");
        this.announcements = host.announcements();
    }

    /**
     * @return a number that is not of a file if there is none left
     */
    int next()
    {
        int file = next.getAndIncrement();
        int before = announced.get();
        while (before < files.count() && file + AHEAD_FILES > before) {
            int end = Math.min(files.count(), before + BATCH_FILES);
            if (announced.compareAndSet(before, end)) {
                announcements.announce(IntStream.range(before, end).mapToObj(number -> host.announced(files, number)).toList());
            }
            before = announced.get();
        }
        return file;
    }
}
