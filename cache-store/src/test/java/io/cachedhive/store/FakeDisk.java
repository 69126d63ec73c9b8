package io.cachedhive.store;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskException.Cause;
import io.cachedhive.store.disk.DiskFile;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A disk in memory that knows what was synced.
 *
 * <p>{@link #turnOff} after so many writes, or now: from then on every call fails, as for a process that is no more.
 * {@link #turnOn} decides the fate of each page that was written and not synced: it is as it was before, or as it was
 * written, or sector by sector one or the other. Of the files that were made, renamed and deleted in a directory since
 * it was last synced, the first so many stay so, as on a file system with a journal of its own.
 *
 * <p>After {@link #failAfter}, writes and syncs fail with EIO. A write that fails leaves some of its first pages
 * written. A sync that fails marks the pages clean, as Linux does: readers go on seeing them, and the next sync
 * succeeds without writing them, so that they may be lost with the power until they are written and synced again.
 */
public final class FakeDisk
        implements Disk
{
    private static final int PAGE = 4096;
    private static final int SECTOR = 512;

    private final Map<Path, FakeFile> files = new TreeMap<>();
    // as a power cut leaves them, if it takes everything that was not synced
    private final Map<Path, FakeFile> durableFiles = new TreeMap<>();
    // what happened to files since their directories were synced, in order
    private final List<DirectoryChange> unsyncedChanges = new ArrayList<>();
    private final Set<Path> locks = new HashSet<>();
    private final Set<Path> failing = new HashSet<>();
    private final Set<Path> unreadable = new HashSet<>();
    private final Map<Path, Path> mountPoints = new HashMap<>();
    private long sizeBytes = 1L << 40;
    private long writesLeft = Long.MAX_VALUE;
    private long writesBeforeFaults = Long.MAX_VALUE;
    private int faultsLeft;
    private int faults;
    private Optional<String> firstFault = Optional.empty();
    private Random faultRandom = new Random(0);
    private Optional<String> lastCall = Optional.empty();
    private boolean direct = true;
    private long writes;

    /**
     * Another disk with the same content, all of it synced.
     */
    synchronized FakeDisk copy()
    {
        FakeDisk copy = new FakeDisk();
        // pages are never changed, only replaced
        files.forEach((path, file) -> {
            FakeFile twin = new FakeFile(path);
            twin.pages.putAll(file.pages);
            twin.size = file.size;
            twin.durableSize = file.size;
            copy.files.put(path, twin);
            copy.durableFiles.put(path, twin);
        });
        copy.sizeBytes = sizeBytes;
        copy.direct = direct;
        return copy;
    }

    /**
     * Another disk with what a power failure now would leave, while this one goes on.
     */
    synchronized FakeDisk afterPowerCut(Random random)
    {
        FakeDisk copy = new FakeDisk();
        Map<FakeFile, FakeFile> twins = new IdentityHashMap<>();
        files.forEach((path, file) -> copy.files.put(path, twins.computeIfAbsent(file, FakeFile::twin)));
        durableFiles.forEach((path, file) -> copy.durableFiles.put(path, twins.computeIfAbsent(file, FakeFile::twin)));
        unsyncedChanges.forEach(change -> copy.unsyncedChanges.add(
                new DirectoryChange(change.target(), change.source(), change.file().map(file -> twins.computeIfAbsent(file, FakeFile::twin)))));
        copy.sizeBytes = sizeBytes;
        copy.direct = direct;
        copy.turnOn(random);
        return copy;
    }

    synchronized void setSizeBytes(long bytes)
    {
        sizeBytes = bytes;
    }

    /**
     * Whether it knows O_DIRECT.
     */
    synchronized void setDirect(boolean direct)
    {
        this.direct = direct;
    }

    /**
     * Writes and syncs that were made.
     */
    synchronized long writes()
    {
        return writes;
    }

    /**
     * Plants EIO.
     *
     * @param writes how many more writes and syncs work before
     * @param count how many fail then, one after the other
     */
    synchronized void failAfter(long writes, int count, Random random)
    {
        writesBeforeFaults = writes;
        faultsLeft = count;
        faults = 0;
        firstFault = Optional.empty();
        faultRandom = random;
    }

    /**
     * How many writes and syncs failed of those that were to by {@link #failAfter}.
     */
    synchronized int faults()
    {
        return faults;
    }

    /**
     * The first call that failed by {@link #failAfter}, and with which file.
     */
    synchronized Optional<String> firstFault()
    {
        return firstFault;
    }

    /**
     * Every write to the file fails, with EIO, until it is repaired.
     */
    synchronized void setFailing(Path file, boolean fails)
    {
        if (fails) {
            failing.add(file);
        }
        else {
            failing.remove(file);
        }
    }

    /**
     * Every read of the file fails, with EIO, until it is repaired.
     */
    synchronized void setUnreadable(Path file, boolean fails)
    {
        if (fails) {
            unreadable.add(file);
        }
        else {
            unreadable.remove(file);
        }
    }

    /**
     * Where the file system is mounted on which the directory is.
     */
    synchronized void setMountPoint(Path directory, Path mountPoint)
    {
        mountPoints.put(directory, mountPoint);
    }

    synchronized void turnOff()
    {
        writesLeft = 0;
    }

    /**
     * @param writes how many more writes and syncs it makes
     */
    synchronized void turnOffAfter(long writes)
    {
        writesLeft = writes;
    }

    synchronized boolean isOff()
    {
        return writesLeft <= 0;
    }

    /**
     * As {@link #turnOn}, after the process was killed and the power stayed: nothing is lost, and nothing synced
     * either.
     */
    synchronized void restartProcess()
    {
        writesLeft = Long.MAX_VALUE;
        lastCall = Optional.empty();
        writesBeforeFaults = Long.MAX_VALUE;
        faultsLeft = 0;
        locks.clear();
    }

    synchronized void turnOn(Random random)
    {
        restartProcess();
        Map<Path, List<DirectoryChange>> changes = new TreeMap<>();
        unsyncedChanges.forEach(change -> changes.computeIfAbsent(change.target().getParent(), _ -> new ArrayList<>()).add(change));
        changes.values().forEach(inOrder -> inOrder.subList(0, random.nextInt(inOrder.size() + 1)).forEach(change -> change.applyTo(durableFiles)));
        unsyncedChanges.clear();
        files.clear();
        files.putAll(durableFiles);
        for (FakeFile file : files.values()) {
            file.losePower(random);
        }
    }

    /**
     * A copy of a file's bytes.
     */
    synchronized byte[] bytes(Path file)
    {
        FakeFile fake = files.get(file);
        byte[] bytes = new byte[(int) fake.size];
        fake.pages.forEach((page, content) -> System.arraycopy(content, 0, bytes, (int) (page * PAGE), (int) Math.min(PAGE, fake.size - page * PAGE)));
        return bytes;
    }

    synchronized void setBytes(Path file, byte[] bytes)
    {
        FakeFile fake = new FakeFile(file);
        fake.put(0, ByteBuffer.wrap(bytes));
        fake.sync();
        files.put(file, fake);
        durableFiles.put(file, fake);
        unsyncedChanges.removeIf(change -> change.target().equals(file));
    }

    /**
     * Changes bits of one byte.
     */
    synchronized void flip(Path file, long position, int bits)
    {
        FakeFile fake = files.get(file);
        byte[] old = fake.pages.get(position / PAGE);
        byte[] page = old == null ? new byte[PAGE] : old.clone();
        page[(int) (position % PAGE)] ^= (byte) bits;
        fake.pages.put(position / PAGE, page);
    }

    /**
     * Cuts a file off.
     */
    synchronized void truncate(Path file, long size)
    {
        FakeFile fake = files.get(file);
        fake.pages.keySet().removeIf(page -> page * PAGE >= size);
        // what is beyond the end does not come back when the file grows again
        fake.pages.computeIfPresent(size / PAGE, (_, page) -> Arrays.copyOf(Arrays.copyOf(page, (int) (size % PAGE)), PAGE));
        fake.size = size;
        fake.durableSize = size;
    }

    synchronized List<Path> files()
    {
        return List.copyOf(files.keySet());
    }

    /**
     * What was done last, and with which file.
     */
    synchronized Optional<String> lastCall()
    {
        return lastCall;
    }

    private void write(String call, Path file)
            throws DiskException
    {
        if (writesLeft <= 0) {
            throw new DiskException(Cause.IO_ERROR, "the power is off");
        }
        boolean isPlanted = writesBeforeFaults <= 0 && faultsLeft > 0;
        if (failing.contains(file) || isPlanted) {
            if (isPlanted) {
                faultsLeft--;
                faults++;
                writesLeft--;
                lastCall = Optional.of(call + " " + file.getFileName());
                firstFault = firstFault.or(() -> lastCall);
            }
            throw new DiskException(Cause.IO_ERROR, "%s of %s failed: input/output error".formatted(call, file));
        }
        writesBeforeFaults--;
        writesLeft--;
        lastCall = Optional.of(call + " " + file.getFileName());
        writes++;
    }

    private void change(DirectoryChange change)
    {
        change.applyTo(files);
        unsyncedChanges.add(change);
    }

    private void checkOn()
            throws DiskException
    {
        if (writesLeft <= 0) {
            throw new DiskException(Cause.IO_ERROR, "the power is off");
        }
    }

    @Override
    public synchronized List<String> list(Path directory)
            throws DiskException
    {
        checkOn();
        return files.keySet().stream()
                .filter(file -> file.getParent().equals(directory))
                .map(file -> file.getFileName().toString())
                .toList();
    }

    @Override
    public synchronized boolean exists(Path file)
    {
        return files.containsKey(file);
    }

    /**
     * The root, unless it was {@linkplain #setMountPoint said} otherwise.
     */
    @Override
    public synchronized Path mountPoint(Path directory)
            throws DiskException
    {
        if (unreadable.contains(directory)) {
            throw new DiskException(Cause.IO_ERROR, "open of %s failed: input/output error".formatted(directory));
        }
        if (!Files.exists(directory)) {
            throw new DiskException(Cause.NOT_FOUND, "open of %s failed: no such file or directory".formatted(directory));
        }
        return mountPoints.getOrDefault(directory, Path.of("/"));
    }

    @Override
    public synchronized DiskFile open(Path file, boolean create, Access access)
            throws DiskException
    {
        if (access == Access.DIRECT && !direct) {
            throw new DiskException(Cause.NOT_SUPPORTED, "open of %s failed: not supported".formatted(file));
        }
        FakeFile found = files.get(file);
        if (found == null) {
            if (!create) {
                throw new DiskException(Cause.NOT_FOUND, "open of %s failed: no such file or directory".formatted(file));
            }
            write("create", file);
            found = new FakeFile(file);
            change(new DirectoryChange(file, Optional.empty(), Optional.of(found)));
        }
        checkOn();
        return new OpenFile(found, access);
    }

    @Override
    public synchronized void delete(Path file)
            throws DiskException
    {
        checkOn();
        if (files.containsKey(file)) {
            write("delete", file);
            change(new DirectoryChange(file, Optional.empty(), Optional.empty()));
        }
    }

    @Override
    public synchronized void rename(Path file, Path target)
            throws DiskException
    {
        if (!files.containsKey(file)) {
            throw new DiskException(Cause.NOT_FOUND, "rename of %s failed: no such file or directory".formatted(file));
        }
        write("rename", target);
        change(new DirectoryChange(target, Optional.of(file), Optional.of(files.get(file))));
    }

    @Override
    public synchronized void syncDirectory(Path directory)
            throws DiskException
    {
        write("sync", directory);
        unsyncedChanges.stream()
                .filter(change -> change.target().getParent().equals(directory))
                .forEach(change -> change.applyTo(durableFiles));
        unsyncedChanges.removeIf(change -> change.target().getParent().equals(directory));
    }

    /**
     * Directories are the machine's own, and durable.
     */
    @Override
    public void createDirectories(Path directory)
            throws IOException
    {
        Files.createDirectories(directory);
    }

    @Override
    public synchronized Optional<byte[]> read(Path file)
            throws DiskException
    {
        checkOn();
        return files.containsKey(file) ? Optional.of(bytes(file)) : Optional.empty();
    }

    @Override
    public synchronized long totalBytes(Path directory)
    {
        return sizeBytes;
    }

    @Override
    public synchronized long usableBytes(Path directory)
    {
        return sizeBytes - files.values().stream().mapToLong(file -> file.size).sum();
    }

    @Override
    public synchronized Optional<Closeable> tryLock(Path file)
    {
        if (!locks.add(file)) {
            return Optional.empty();
        }
        return Optional.of(() -> {
            synchronized (FakeDisk.this) {
                locks.remove(file);
            }
        });
    }

    /**
     * A file has another content by name, or none.
     *
     * @param source the name that it had before
     */
    private record DirectoryChange(Path target, Optional<Path> source, Optional<FakeFile> file)
    {
        void applyTo(Map<Path, FakeFile> files)
        {
            source.ifPresent(files::remove);
            file.ifPresentOrElse(content -> files.put(target, content), () -> files.remove(target));
        }
    }

    private static final class FakeFile
    {
        final Path path;
        // pages that were never written are zeros
        final Map<Long, byte[]> pages = new HashMap<>();
        // as they were when they were last synced; a null is a page of zeros
        final Map<Long, byte[]> unsynced = new HashMap<>();
        // also of pages that no sync writes any more, since one failed
        final Map<Long, byte[]> lost = new HashMap<>();
        long size;
        long durableSize;

        FakeFile(Path path)
        {
            this.path = path;
        }

        FakeFile twin()
        {
            FakeFile twin = new FakeFile(path);
            twin.pages.putAll(pages);
            twin.unsynced.putAll(unsynced);
            twin.lost.putAll(lost);
            twin.size = size;
            twin.durableSize = durableSize;
            return twin;
        }

        void put(long position, ByteBuffer source)
        {
            while (source.hasRemaining()) {
                long number = position / PAGE;
                int offset = (int) (position % PAGE);
                byte[] old = pages.get(number);
                if (!unsynced.containsKey(number)) {
                    unsynced.put(number, lost.containsKey(number) ? lost.remove(number) : old);
                }
                byte[] page = old == null ? new byte[PAGE] : old.clone();
                int length = Math.min(PAGE - offset, source.remaining());
                source.get(page, offset, length);
                pages.put(number, page);
                position += length;
            }
            size = Math.max(size, position);
        }

        void sync()
        {
            unsynced.clear();
            durableSize = size;
        }

        void failSync()
        {
            lost.putAll(unsynced);
            unsynced.clear();
        }

        void losePower(Random random)
        {
            unsynced.putAll(lost);
            lost.clear();
            for (Map.Entry<Long, byte[]> entry : unsynced.entrySet()) {
                byte[] before = entry.getValue() == null ? new byte[PAGE] : entry.getValue();
                byte[] after = pages.get(entry.getKey());
                byte[] page = switch (random.nextInt(3)) {
                    case 0 -> before;
                    case 1 -> after;
                    default -> {
                        byte[] torn = after.clone();
                        for (int sector = 0; sector < PAGE; sector += SECTOR) {
                            if (random.nextBoolean()) {
                                System.arraycopy(before, sector, torn, sector, SECTOR);
                            }
                        }
                        yield torn;
                    }
                };
                pages.put(entry.getKey(), page);
            }
            unsynced.clear();
            if (size != durableSize && random.nextBoolean()) {
                size = durableSize;
                pages.keySet().removeIf(page -> page * PAGE >= durableSize);
            }
            durableSize = size;
        }
    }

    private final class OpenFile
            implements DiskFile
    {
        private final FakeFile file;
        private final Access access;

        OpenFile(FakeFile file, Access access)
        {
            this.file = file;
            this.access = access;
        }

        private void checkAligned(long position, int length)
                throws DiskException
        {
            if (access == Access.DIRECT && (position % ALIGNMENT_BYTES != 0 || length % ALIGNMENT_BYTES != 0)) {
                throw new DiskException(Cause.NOT_SUPPORTED, "not aligned: %s, %s".formatted(position, length));
            }
        }

        private void checkWritable()
                throws DiskException
        {
            if (access == Access.READ_ONLY) {
                throw new DiskException(Cause.NOT_PERMITTED, "%s is open for reading only".formatted(file.path));
            }
        }

        @Override
        public int read(long position, ByteBuffer target)
                throws DiskException
        {
            synchronized (FakeDisk.this) {
                checkOn();
                if (unreadable.contains(file.path)) {
                    throw new DiskException(Cause.IO_ERROR, "read of %s failed: input/output error".formatted(file.path));
                }
                checkAligned(position, target.remaining());
                int total = (int) Math.max(0, Math.min(target.remaining(), file.size - position));
                int left = total;
                while (left > 0) {
                    int offset = (int) (position % PAGE);
                    int length = Math.min(PAGE - offset, left);
                    byte[] page = file.pages.getOrDefault(position / PAGE, new byte[PAGE]);
                    target.put(page, offset, length);
                    position += length;
                    left -= length;
                }
                return total;
            }
        }

        @Override
        public void write(long position, ByteBuffer source)
                throws DiskException
        {
            synchronized (FakeDisk.this) {
                checkAligned(position, source.remaining());
                checkWritable();
                try {
                    FakeDisk.this.write("write", file.path);
                }
                catch (DiskException e) {
                    if (writesLeft > 0 && !failing.contains(file.path)) {
                        int pages = faultRandom.nextInt(source.remaining() / PAGE + 1);
                        file.put(position, source.duplicate().limit(source.position() + pages * PAGE));
                    }
                    throw e;
                }
                file.put(position, source);
            }
        }

        @Override
        public void sync()
                throws DiskException
        {
            synchronized (FakeDisk.this) {
                try {
                    FakeDisk.this.write("sync", file.path);
                }
                catch (DiskException e) {
                    if (writesLeft > 0) {
                        file.failSync();
                    }
                    throw e;
                }
                file.sync();
            }
        }

        @Override
        public void allocate(long bytes)
                throws DiskException
        {
            synchronized (FakeDisk.this) {
                checkWritable();
                FakeDisk.this.write("allocate", file.path);
                file.pages.keySet().removeIf(page -> page * PAGE >= bytes);
                file.unsynced.keySet().removeIf(page -> page * PAGE >= bytes);
                file.lost.keySet().removeIf(page -> page * PAGE >= bytes);
                file.size = bytes;
                file.durableSize = bytes;
            }
        }

        @Override
        public long size()
        {
            synchronized (FakeDisk.this) {
                return file.size;
            }
        }

        @Override
        public void close() {}
    }
}
