package io.cachedhive.plugin.ahead;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FillTerms;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

import static com.google.common.collect.Lists.partition;
import static java.util.Objects.requireNonNull;

/**
 * Tells cache workers which small files one scan is about to read. At best: what cannot be told is fetched when it is read, as ever.
 */
public final class ScanAnnouncements
{
    /**
     * Files of the scan that workers were told of and have not said to be done with; what comes beyond that is not announced.
     */
    static final int MAX_OUTSTANDING_FILES = 4096;
    static final int FILES_PER_MESSAGE = 256;

    private final Announcer announcer;
    private final String table;
    private final Digest128 scan;

    // guarded by this
    private final Set<CompletableFuture<?>> outstanding = new HashSet<>();
    private int outstandingFiles;
    private boolean closed;

    /**
     * Sends one message.
     */
    public interface Announcer
    {
        /**
         * @return ends when the worker has done with the files; cancelling it takes them back. Never null
         */
        CompletableFuture<?> announce(WorkerAddress worker, int origin, Digest128 scan, String table, List<FileVersion> files, FillTerms terms);
    }

    /**
     * @param owner of the file
     * @param origin the place of the file's origin among the catalog's
     * @param terms on which the file is to be kept
     */
    public record SmallFile(WorkerAddress owner, int origin, FileVersion file, FillTerms terms)
    {
        public SmallFile
        {
            requireNonNull(owner, "owner is null");
            requireNonNull(file, "file is null");
            requireNonNull(terms, "terms is null");
        }
    }

    /**
     * @param table {@code schema.table}
     */
    public ScanAnnouncements(Announcer announcer, String table)
    {
        this.announcer = requireNonNull(announcer, "announcer is null");
        this.table = requireNonNull(table, "table is null");
        ThreadLocalRandom random = ThreadLocalRandom.current();
        this.scan = new Digest128(random.nextLong(), random.nextLong());
    }

    private record Target(WorkerAddress owner, int origin, FillTerms terms) {}

    /**
     * @param files in the order in which they are likely to be read
     */
    public void announce(List<SmallFile> files)
    {
        Map<Target, List<FileVersion>> filesByTarget = new LinkedHashMap<>();
        for (SmallFile file : files) {
            filesByTarget.computeIfAbsent(new Target(file.owner(), file.origin(), file.terms()), _ -> new ArrayList<>()).add(file.file());
        }
        filesByTarget.forEach((target, versions) -> partition(versions, FILES_PER_MESSAGE).forEach(message -> send(target, message)));
    }

    private void send(Target target, List<FileVersion> files)
    {
        synchronized (this) {
            if (closed || outstandingFiles + files.size() > MAX_OUTSTANDING_FILES) {
                return;
            }
            outstandingFiles += files.size();
        }
        CompletableFuture<?> answer;
        try {
            answer = announcer.announce(target.owner(), target.origin(), scan, table, files, target.terms());
        }
        catch (RuntimeException e) {
            synchronized (this) {
                outstandingFiles -= files.size();
            }
            throw e;
        }
        boolean late;
        synchronized (this) {
            outstanding.add(answer);
            late = closed;
        }
        answer.whenComplete((_, _) -> {
            synchronized (this) {
                outstanding.remove(answer);
                outstandingFiles -= files.size();
            }
        });
        if (late) {
            answer.cancel(false);
        }
    }

    /**
     * The scan has got all its splits: what was announced will be read.
     */
    public synchronized void finish()
    {
        closed = true;
        outstanding.clear();
    }

    /**
     * The scan ends before it has read all: what workers did not fetch yet is taken back.
     */
    public void cancel()
    {
        List<CompletableFuture<?>> answers;
        synchronized (this) {
            closed = true;
            answers = List.copyOf(outstanding);
        }
        answers.forEach(answer -> answer.cancel(false));
    }
}
