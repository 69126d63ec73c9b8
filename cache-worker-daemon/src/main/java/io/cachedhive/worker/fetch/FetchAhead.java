package io.cachedhive.worker.fetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockStore;
import io.cachedhive.worker.time.WorkerTimer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Fetches small files that scans are about to read, so that readers of many files do not wait for the origin for each
 * file.
 *
 * <p><b>A window.</b> The window of a scan limits the data that is fetched but not read yet. It is small until files of
 * the scan are read, so a query that reads one file and stops costs little. All windows together are limited to a
 * fraction of RAM, so that few blocks are evicted before they are read.
 *
 * <p><b>Lowest priority.</b> No file is fetched ahead while the bucket is busy with current reads or has recently
 * throttled requests (see {@link FetchQueues}). A file that is not fetched in time is fetched when it is read. A failed
 * request is ignored; the reader will see the failure itself.
 *
 * <p><b>Counting.</b> The block itself records that it was fetched ahead (until {@link BlockStore#clearPrefetched}), and readers
 * count it as a remote read. A block that is not read within a minute counts as extra bytes.
 *
 * <p>Invariants, under the lock: {@code unaskedBytes} of a scan is the sum over its entries in {@code unasked}.
 * {@code inFlight} is the number of entries that have not landed. An entry leaves the table once: when it is read,
 * fails, or times out.
 */
public final class FetchAhead
{
    /**
     * The window of a scan that has not read a file yet.
     */
    static final long FIRST_WINDOW_BYTES = 4 << 20;
    /**
     * The maximum window, which limits the data that a scan can fetch in vain.
     */
    static final long MAX_WINDOW_BYTES = 64 << 20;
    /**
     * The same limits as a number of files, because each file takes one request to the origin.
     */
    static final int FIRST_WINDOW_FILES = 64;
    static final int MAX_WINDOW_FILES = 4096;
    private static final long MAX_UNASKED_BYTES = 256 << 20;
    private static final long UNASKED_SHARE_OF_RAM = 16;
    static final int MAX_WAITING_FILES = 32 << 10;
    static final Duration LIFETIME = Duration.ofMinutes(1);
    /**
     * The minimum age of a file. Younger files may still be provisional ({@link ProvisionalVersions}); the value
     * includes a margin for differing clocks.
     */
    static final Duration MIN_AGE = Duration.ofMinutes(1);
    private static final Duration RETRY = Duration.ofMillis(20);
    private static final Duration SWEEP = Duration.ofSeconds(5);

    private final BlockStore store;
    private final BlockFetcher fetcher;
    private final WorkerCounters counters;
    private final WorkerTimer timer;
    private final Executor executor;
    private final int maxInFlight;
    private final long maxUnaskedBytes;

    // by block; the thread that removes an entry updates the counts
    private final Map<Digest128, Flight> unasked = new ConcurrentHashMap<>();
    private final AtomicBoolean pumping = new AtomicBoolean();
    private final AtomicBoolean retrying = new AtomicBoolean();

    private final ReentrantLock lock = new ReentrantLock();
    @GuardedBy("lock")
    private final Map<Digest128, Scan> scans = new LinkedHashMap<>();
    @GuardedBy("lock")
    private int waitingFiles;
    @GuardedBy("lock")
    private int inFlight;
    @GuardedBy("lock")
    private long unaskedBytes;
    @GuardedBy("lock")
    private boolean sweeping;
    @GuardedBy("lock")
    private boolean stopped;

    /**
     * @param executor runs the work that readers and the timer trigger
     * @param maxInFlight the maximum number of concurrent requests
     * @param ramBytes the capacity of the RAM tier
     */
    public FetchAhead(BlockStore store, BlockFetcher fetcher, WorkerCounters counters, WorkerTimer timer, Executor executor, int maxInFlight, long ramBytes)
    {
        this.store = requireNonNull(store, "store is null");
        this.fetcher = requireNonNull(fetcher, "fetcher is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.timer = requireNonNull(timer, "timer is null");
        this.executor = requireNonNull(executor, "executor is null");
        this.maxInFlight = maxInFlight;
        this.maxUnaskedBytes = Math.min(MAX_UNASKED_BYTES, ramBytes / UNASKED_SHARE_OF_RAM);
    }

    private static final class Scan
    {
        private final Digest128 id;
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private long windowBytes = FIRST_WINDOW_BYTES;
        private int windowFiles = FIRST_WINDOW_FILES;
        private long unaskedBytes;
        // files that have been fetched or are being fetched, and not been read yet
        private int flights;

        private Scan(Digest128 id)
        {
            this.id = requireNonNull(id, "id is null");
        }
    }

    private record Waiting(FetchTarget target, Announcement announcement)
    {
        int length()
        {
            return (int) target.version().length();
        }
    }

    /**
     * A list of files that a scan is about to read.
     */
    public final class Announcement
    {
        private final Scan scan;
        private final Runnable ended;
        // guarded by the lock of FetchAhead, which the checker cannot track through the enclosing instance
        private int left;
        private boolean cancelled;

        private Announcement(Scan scan, int left, Runnable ended)
        {
            this.scan = scan;
            this.left = left;
            this.ended = requireNonNull(ended, "ended is null");
        }

        /**
         * Drops the queued files of the list, because the scan has ended. Requests in progress continue.
         */
        public void cancel()
        {
            lock.lock();
            try {
                cancelled = true;
                int before = scan.waiting.size();
                scan.waiting.removeIf(waiting -> waiting.announcement() == this);
                waitingFiles -= before - scan.waiting.size();
                forgetIfIdle(scan);
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Queues the files of a scan.
     *
     * @param files in the expected order of reads; files that cannot be fetched ahead are skipped
     * @param ended called once, possibly within this call, when no file of the list is queued or being fetched any
     * more; possibly not called after a cancellation
     */
    public Announcement announce(Digest128 scanId, List<FetchTarget> files, Runnable ended)
    {
        long youngest = timer.now().minus(MIN_AGE).toEpochMilli();
        List<FetchTarget> suitable = files.stream()
                .filter(file -> file.version().length() > 0 && file.version().length() <= store.blockSizeBytes() && file.version().lastModifiedMillis() < youngest)
                .toList();
        Announcement announcement;
        int room;
        lock.lock();
        try {
            room = stopped ? 0 : Math.clamp(MAX_WAITING_FILES - waitingFiles, 0, suitable.size());
            Scan scan = scans.computeIfAbsent(scanId, Scan::new);
            announcement = new Announcement(scan, room, ended);
            for (FetchTarget file : suitable.subList(0, room)) {
                scan.waiting.add(new Waiting(file, announcement));
            }
            waitingFiles += room;
            forgetIfIdle(scan);
            if (room > 0) {
                scheduleSweep();
            }
        }
        finally {
            lock.unlock();
        }
        if (room == 0) {
            ended.run();
        }
        else {
            pump();
        }
        return announcement;
    }

    /**
     * Records that a block has been read. Inexpensive while nothing is fetched ahead.
     *
     * @return whether the block was fetched ahead, or is being fetched, and this is its first read
     */
    public boolean clearPrefetched(Digest128 block)
    {
        if (unasked.isEmpty()) {
            return false;
        }
        Flight flight = unasked.remove(block);
        if (flight == null) {
            return false;
        }
        boolean landed;
        lock.lock();
        try {
            landed = flight.landed;
            left(flight);
            Scan scan = flight.waiting.announcement().scan;
            scan.windowBytes = Math.min(MAX_WINDOW_BYTES, scan.windowBytes + 2L * flight.waiting.length());
            scan.windowFiles = Math.min(MAX_WINDOW_FILES, scan.windowFiles + 2);
        }
        finally {
            lock.unlock();
        }
        if (landed) {
            store.clearPrefetched(block);
        }
        if (pumping.compareAndSet(false, true)) {
            pumpLater();
        }
        return true;
    }

    public int waitingFiles()
    {
        lock.lock();
        try {
            return waitingFiles;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the number of scans with files that are queued, being fetched, or not read yet.
     */
    int scans()
    {
        lock.lock();
        try {
            return scans.size();
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the number of bytes that have been fetched, or are being fetched, and have not been read yet.
     */
    public long unaskedBytes()
    {
        lock.lock();
        try {
            return unaskedBytes;
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Stops fetching ahead and drops all queued files.
     */
    public void stop()
    {
        lock.lock();
        try {
            stopped = true;
            waitingFiles = 0;
            scans.values().forEach(scan -> scan.waiting.clear());
            scans.clear();
        }
        finally {
            lock.unlock();
        }
    }

    private void pumpLater()
    {
        try {
            executor.execute(() -> {
                pumping.set(false);
                pump();
            });
        }
        catch (RejectedExecutionException | OutOfMemoryError _) {
            // stopped, or the system gives this process no more threads
            pumping.set(false);
        }
    }

    private void pump()
    {
        while (true) {
            Flight flight = next();
            if (flight == null) {
                return;
            }
            if (flight.duplicate) {
                flight.ended();
                continue;
            }
            FetchTarget target = flight.waiting.target();
            String bucket = target.location().bucket();
            if (target.origin().health().isDenied(bucket) || target.origin().health().isPaused(bucket)) {
                flight.forget();
                continue;
            }
            switch (fetcher.fetchAhead(target, 0, flight)) {
                case BEGUN -> {}
                case NEEDLESS -> flight.forget();
                case NO_PLACE -> {
                    putBack(flight);
                    if (retrying.compareAndSet(false, true)) {
                        timer.schedule(RETRY, () -> {
                            retrying.set(false);
                            pumpLater();
                        });
                    }
                    return;
                }
            }
        }
    }

    /**
     * Returns the next file of the scan whose turn it is, or null if there is none or the limits are reached.
     */
    private Flight next()
    {
        lock.lock();
        try {
            if (inFlight >= maxInFlight) {
                return null;
            }
            for (Scan scan : scans.values()) {
                Waiting waiting = scan.waiting.peekFirst();
                if (waiting == null
                        || scan.flights >= scan.windowFiles
                        || scan.unaskedBytes + waiting.length() > scan.windowBytes
                        || unaskedBytes + waiting.length() > maxUnaskedBytes) {
                    continue;
                }
                scan.waiting.removeFirst();
                waitingFiles--;
                Flight flight = new Flight(waiting);
                if (unasked.putIfAbsent(flight.block, flight) != null) {
                    // announced twice: the other entry is already being fetched
                    flight.duplicate = true;
                }
                else {
                    inFlight++;
                    scan.flights++;
                    scan.unaskedBytes += waiting.length();
                    unaskedBytes += waiting.length();
                }
                // move the scan behind all others
                scans.remove(scan.id);
                scans.put(scan.id, scan);
                forgetIfIdle(scan);
                return flight;
            }
            return null;
        }
        finally {
            lock.unlock();
        }
    }

    private void putBack(Flight flight)
    {
        if (unasked.remove(flight.block, flight)) {
            lock.lock();
            try {
                left(flight);
                if (!stopped && !flight.waiting.announcement().cancelled) {
                    Scan scan = flight.waiting.announcement().scan;
                    scan.waiting.addFirst(flight.waiting);
                    waitingFiles++;
                    scans.putIfAbsent(scan.id, scan);
                }
            }
            finally {
                lock.unlock();
            }
        }
        else {
            // the block has just been read: its reader fetches it
            flight.ended();
        }
    }

    // updates the counts for an entry that was removed from the table
    @GuardedBy("lock")
    private void left(Flight flight)
    {
        Scan scan = flight.waiting.announcement().scan;
        flight.gone = true;
        if (!flight.landed) {
            inFlight--;
        }
        scan.flights--;
        scan.unaskedBytes -= flight.waiting.length();
        unaskedBytes -= flight.waiting.length();
        forgetIfIdle(scan);
    }

    @GuardedBy("lock")
    private void forgetIfIdle(Scan scan)
    {
        if (scan.waiting.isEmpty() && scan.flights == 0) {
            scans.remove(scan.id, scan);
        }
    }

    @GuardedBy("lock")
    private void scheduleSweep()
    {
        if (!sweeping) {
            sweeping = true;
            timer.schedule(SWEEP, this::sweep);
        }
    }

    private void sweep()
    {
        long now = timer.nanoTime();
        List<Flight> late = new ArrayList<>();
        lock.lock();
        try {
            for (Flight flight : unasked.values()) {
                if (flight.landed && now - flight.landedNanos >= LIFETIME.toNanos()) {
                    late.add(flight);
                }
            }
        }
        finally {
            lock.unlock();
        }
        late.forEach(Flight::wasExtra);
        lock.lock();
        try {
            sweeping = false;
            if (!scans.isEmpty() && !stopped) {
                scheduleSweep();
            }
        }
        finally {
            lock.unlock();
        }
        if (!late.isEmpty()) {
            pumpLater();
        }
    }

    /**
     * A file that is being fetched or has been fetched, until it is read.
     */
    private final class Flight
            implements BlockWaiter
    {
        private final Waiting waiting;
        private final Digest128 block;
        private boolean duplicate;
        // guarded by the lock of FetchAhead, which the checker cannot track through the enclosing instance
        private boolean landed;
        private long landedNanos;
        private boolean gone;

        private Flight(Waiting waiting)
        {
            this.waiting = requireNonNull(waiting, "waiting is null");
            BlockKey key = waiting.target().id().block(0);
            this.block = key.digest();
        }

        @Override
        public void stored(int index)
        {
            boolean askedMeanwhile;
            lock.lock();
            try {
                askedMeanwhile = gone;
                if (!gone) {
                    landed = true;
                    landedNanos = timer.nanoTime();
                    inFlight--;
                }
            }
            finally {
                lock.unlock();
            }
            if (askedMeanwhile) {
                store.clearPrefetched(block);
            }
            ended();
            // not here but in the executor, because readers that joined are notified after this waiter
            if (pumping.compareAndSet(false, true)) {
                pumpLater();
            }
        }

        @Override
        public void handedOver(int index)
        {
            // nothing was read from the origin, so the first read is a hit
            forget();
            if (pumping.compareAndSet(false, true)) {
                pumpLater();
            }
        }

        @Override
        public void bytes(int index, SharedBytes bytes)
        {
            // the block could not be stored or is provisional, so fetching more files of the scan would be in vain
            Scan scan = waiting.announcement().scan;
            List<Announcement> given = new ArrayList<>();
            lock.lock();
            try {
                scan.waiting.forEach(file -> given.add(file.announcement()));
                waitingFiles -= scan.waiting.size();
                scan.waiting.clear();
                forgetIfIdle(scan);
            }
            finally {
                lock.unlock();
            }
            wasExtra();
            ended();
            given.forEach(FetchAhead.this::ended);
        }

        @Override
        public void present(int index)
        {
            forget();
        }

        @Override
        public void denied(int index)
        {
            forget();
            pump();
        }

        @Override
        public void failed(int index, NoCause cause)
        {
            forget();
            pump();
        }

        private void forget()
        {
            if (unasked.remove(block, this)) {
                lock.lock();
                try {
                    left(this);
                }
                finally {
                    lock.unlock();
                }
            }
            ended();
        }

        private void wasExtra()
        {
            if (unasked.remove(block, this)) {
                lock.lock();
                try {
                    left(this);
                }
                finally {
                    lock.unlock();
                }
                counters.addExtraBytes(waiting.length());
                store.clearPrefetched(block);
            }
        }

        private void ended()
        {
            FetchAhead.this.ended(waiting.announcement());
        }
    }

    private void ended(Announcement announcement)
    {
        boolean last;
        lock.lock();
        try {
            announcement.left--;
            last = announcement.left == 0;
        }
        finally {
            lock.unlock();
        }
        if (last) {
            announcement.ended.run();
        }
    }
}
