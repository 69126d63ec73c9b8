package io.cachedhive.worker.usage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.worker.state.RecordLog;
import io.cachedhive.worker.state.StateDirectory;
import io.cachedhive.worker.usage.UsageCounters.Account;
import io.cachedhive.worker.usage.UsageCounters.TablesRecord;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import static java.util.Objects.requireNonNull;

/**
 * Keeps counters in a file that grows by the tables and clients that changed. When most of the file is outdated, a new
 * file replaces it. A batch is acknowledged after its record was written, so a killed process loses no acknowledged
 * batch; a power failure loses those of about the last second.
 *
 * <p>A new file is written in records of a bounded number of tables, between which batches are counted and written to
 * both files. A table in it may therefore already contain a batch. The record of that batch follows in the new file
 * before this file gets the name of the old one, and its values replace the earlier ones.
 */
public final class UsageJournal
        implements AutoCloseable
{
    private static final Logger log = Logger.get(UsageJournal.class);

    static final String FILE = "counters";
    static final long MIN_REWRITE_BYTES = 1 << 20;
    private static final long MAGIC = 0x31544e4356484355L;
    private static final Duration FORGET_INTERVAL = Duration.ofHours(1);
    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(10);

    private final UsageCounters counters;
    private final StateDirectory state;
    private final Clock clock;
    private final Executor writer;
    private final Object fileLock = new Object();

    @GuardedBy("this")
    private List<Runnable> waiting = new ArrayList<>();
    @GuardedBy("this")
    private boolean scheduled;

    // empty while no file can be appended to: at first, and after a failure
    @GuardedBy("fileLock")
    private Optional<RecordLog> file = Optional.empty();
    @GuardedBy("fileLock")
    private Optional<RecordLog> newFile = Optional.empty();
    @GuardedBy("fileLock")
    private long rewriteAtBytes;
    @GuardedBy("fileLock")
    private long writtenBytes;
    @GuardedBy("fileLock")
    private boolean unsynced;
    @GuardedBy("fileLock")
    private boolean failing;
    @GuardedBy("fileLock")
    private long nextRetryMillis;
    @GuardedBy("fileLock")
    private long nextForgetMillis;
    @GuardedBy("fileLock")
    private boolean closed;

    private UsageJournal(UsageCounters counters, StateDirectory state, Clock clock, Executor writer)
    {
        this.counters = requireNonNull(counters, "counters is null");
        this.state = requireNonNull(state, "state is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.writer = requireNonNull(writer, "writer is null");
        load();
    }

    /**
     * Reads the counters of the last run. A file that cannot be read counts as absent.
     *
     * @param counters new counters
     * @param writer writes batches soon after a batch was added
     */
    public static UsageJournal open(UsageCounters counters, StateDirectory state, Clock clock, Executor writer)
    {
        return new UsageJournal(counters, state, clock, writer);
    }

    private void load()
    {
        synchronized (fileLock) {
            nextForgetMillis = clock.millis() + FORGET_INTERVAL.toMillis();
            try {
                Optional<RecordLog.Opened> opened = RecordLog.open(state, FILE, MAGIC, counters::restore);
                if (opened.isPresent() && opened.get().complete()) {
                    file = Optional.of(opened.get().log());
                    // how much of it is outdated is unknown
                    rewriteAtBytes = MIN_REWRITE_BYTES;
                }
                else if (opened.isPresent()) {
                    opened.get().log().close();
                    log.warn("The end of %s is incomplete: dropped the counters after the last complete record; no action is needed", state.path().resolve(FILE));
                }
            }
            catch (IOException | IllegalArgumentException e) {
                counters.reset();
                log.warn("Cannot read the counters in %s (%s): starting from zero; no action is needed", state.path(), e.getMessage());
            }
        }
    }

    public UsageCounters counters()
    {
        return counters;
    }

    /**
     * Adds the counters of a batch.
     *
     * @param acknowledged runs when the batch is written, or when that failed and was logged; for a batch that was
     * counted before, too
     * @return whether the batch was counted
     */
    public boolean add(Account account, Usage batch, Runnable acknowledged)
    {
        boolean counted = counters.add(account, batch);
        if (batch.counters().isEmpty()) {
            acknowledged.run();
        }
        else {
            whenWritten(acknowledged);
        }
        return counted;
    }

    /**
     * Runs the task when all batches that were added before are written, or when that failed and was logged.
     */
    private void whenWritten(Runnable task)
    {
        synchronized (this) {
            waiting.add(task);
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        try {
            writer.execute(this::save);
        }
        catch (RejectedExecutionException _) {
            // stopping: written by close, after which no client waits for the reply
            log.debug("Counters are written when the cache worker has stopped");
        }
    }

    private List<Runnable> takeWaiting()
    {
        synchronized (this) {
            scheduled = false;
            List<Runnable> taken = waiting;
            waiting = new ArrayList<>();
            return taken;
        }
    }

    /**
     * Writes what has changed.
     */
    public void save()
    {
        synchronized (fileLock) {
            if (closed) {
                return;
            }
            if (file.isPresent()) {
                append();
            }
            if (file.isPresent() ? file.get().size() > rewriteAtBytes : clock.millis() >= nextRetryMillis) {
                rewrite();
            }
            if (file.isEmpty()) {
                // the counters are in memory, and in the file when it can be written again
                takeWaiting().forEach(Runnable::run);
            }
        }
    }

    /**
     * Does what is due: makes written records durable, forgets tables, and retries failed writes. Call it about every
     * second.
     */
    public void maintain()
    {
        synchronized (fileLock) {
            save();
            if (clock.millis() >= nextForgetMillis) {
                nextForgetMillis = clock.millis() + FORGET_INTERVAL.toMillis();
                int forgotten = counters.forget();
                if (forgotten > 0) {
                    log.info("Forgot the counters of %s tables that were not read for %s days", forgotten, UsageCounters.TABLE_LIFETIME.toDays());
                }
            }
            if (unsynced && file.isPresent()) {
                try {
                    file.get().sync();
                    unsynced = false;
                }
                catch (IOException e) {
                    failed(e);
                }
            }
        }
    }

    @GuardedBy("fileLock")
    private void append()
    {
        // before the changes are taken: tasks of later batches wait for the next record
        List<Runnable> tasks = takeWaiting();
        Optional<ByteBuffer> changes = counters.changes();
        if (changes.isPresent() && file.isPresent()) {
            try {
                file.get().append(changes.get());
                writtenBytes += changes.get().remaining();
                unsynced = true;
            }
            catch (IOException e) {
                failed(e);
            }
        }
        if (changes.isPresent() && newFile.isPresent()) {
            try {
                newFile.get().append(changes.get());
                writtenBytes += changes.get().remaining();
            }
            catch (IOException e) {
                abandonNewFile(e);
            }
        }
        if (file.isEmpty() && newFile.isPresent()) {
            // not written before the new file has its name
            synchronized (this) {
                waiting.addAll(tasks);
            }
            return;
        }
        tasks.forEach(Runnable::run);
    }

    /**
     * Replaces the file by one without outdated records.
     */
    @GuardedBy("fileLock")
    private void rewrite()
    {
        try {
            newFile = Optional.of(RecordLog.create(state, FILE, MAGIC));
            write(counters.progress());
            for (Account account : counters.accounts()) {
                Optional<String> after = Optional.of("");
                while (after.isPresent()) {
                    TablesRecord tables = counters.tables(account, after.get());
                    write(tables.record());
                    after = tables.next();
                    append();
                }
            }
            append();
            if (newFile.isEmpty()) {
                return;
            }
            RecordLog written = newFile.get();
            written.publish(state, FILE);
            newFile = Optional.empty();
            closeFile();
            file = Optional.of(written);
            rewriteAtBytes = Math.max(MIN_REWRITE_BYTES, 2 * written.size());
            unsynced = false;
            failing = false;
        }
        catch (IOException e) {
            abandonNewFile(e);
            return;
        }
        append();
    }

    @GuardedBy("fileLock")
    private void write(ByteBuffer record)
            throws IOException
    {
        if (newFile.isPresent()) {
            newFile.get().append(record);
            writtenBytes += record.remaining();
        }
    }

    @GuardedBy("fileLock")
    private void abandonNewFile(IOException cause)
    {
        warn(cause);
        nextRetryMillis = clock.millis() + RETRY_INTERVAL.toMillis();
        // the old file grows on; try again when it has
        if (file.isPresent()) {
            rewriteAtBytes = file.get().size() + MIN_REWRITE_BYTES;
        }
        if (newFile.isPresent()) {
            try {
                newFile.get().discard();
            }
            catch (IOException e) {
                log.debug("File of counters could not be deleted: %s", e);
            }
        }
        newFile = Optional.empty();
    }

    @GuardedBy("fileLock")
    private void failed(IOException cause)
    {
        warn(cause);
        // nothing may follow an incomplete record
        closeFile();
        nextRetryMillis = clock.millis();
    }

    @GuardedBy("fileLock")
    private void warn(IOException cause)
    {
        if (!failing) {
            log.warn("Counters cannot be written to %s (%s) and are lost at a restart: free disk space, or make the directory writable", state.path(), cause);
        }
        failing = true;
    }

    @GuardedBy("fileLock")
    private void closeFile()
    {
        if (file.isPresent()) {
            try {
                file.get().close();
            }
            catch (IOException e) {
                log.debug("File of counters could not be closed: %s", e);
            }
        }
        file = Optional.empty();
    }

    /**
     * Replaces the file when it is written next.
     */
    void rewriteSoon()
    {
        synchronized (fileLock) {
            rewriteAtBytes = 0;
        }
    }

    /**
     * Returns the bytes written to files since the start.
     */
    long writtenBytes()
    {
        synchronized (fileLock) {
            return writtenBytes;
        }
    }

    /**
     * Writes what has changed, and makes it durable.
     */
    @Override
    public void close()
    {
        synchronized (fileLock) {
            maintain();
            closeFile();
            closed = true;
        }
    }
}
