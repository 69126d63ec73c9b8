package io.cachedhive.store.ram;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.MemoryAllocator;
import io.cachedhive.store.disk.Posix;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;

/**
 * The shared-memory file of one run.
 *
 * <p>A run holds a lock (flock(2)) on its file until its process ends. So an unlocked file was left by a killed run, and
 * the next run frees its memory: see {@link LeftMemory}.
 */
public final class MemoryFile
        implements AutoCloseable
{
    private static final Logger log = Logger.get(MemoryFile.class);

    static final String PREFIX = "cachedhive-";
    static final String SUFFIX = ".ram";
    private static final int MAX_ATTEMPTS = 100;

    private final Path path;
    private final int descriptor;
    private final MemorySegment memory;
    private final SharedMemoryWriter writer;
    private final MemoryGrowth growth;
    private boolean closed;

    private MemoryFile(Path path, int descriptor, MemorySegment memory, SharedMemoryWriter writer, MemoryGrowth growth)
    {
        this.path = requireNonNull(path, "path is null");
        this.descriptor = descriptor;
        this.memory = requireNonNull(memory, "memory is null");
        this.writer = requireNonNull(writer, "writer is null");
        this.growth = requireNonNull(growth, "growth is null");
    }

    private static void punch(Path file, int descriptor, long framesOffset, long bytes)
            throws DiskException
    {
        if (framesOffset > MemoryLayout.headerBytes()) {
            Posix.punchHole(file, descriptor, MemoryLayout.headerBytes(), framesOffset - MemoryLayout.headerBytes());
        }
        Posix.punchHole(file, descriptor, framesOffset, bytes - framesOffset);
    }

    static String namePrefix(CacheWorkerId workerId)
    {
        return PREFIX + workerId + "-";
    }

    /**
     * Creates the file of this run in state STARTING. The file has its final size. Its index and the first slabs are
     * allocated; {@link #grow} allocates the rest.
     *
     * @param group group that may read it
     * @param left memory of killed runs, of which so much is freed that the file can be used; {@link #grow} frees the
     *         rest. Stays the caller's.
     */
    public static MemoryFile create(
            Path directory,
            MemoryLayout layout,
            Digest128 instance,
            CacheWorkerId workerId,
            Optional<String> group,
            MemoryAllocator allocator,
            LeftMemory left)
            throws StoreException
    {
        long bytes = layout.fileSizeBytes();
        Path path = null;
        int descriptor = -1;
        boolean success = false;
        try {
            left.free(MemoryGrowth.firstBytes(layout, allocator));
            long usable = Files.getFileStore(directory).getUsableSpace() + left.bytes();
            if (bytes > usable) {
                throw new StoreException("cache.ram.max-size needs %s, but only %s are free in %s: reduce it, or enlarge the file system".formatted(
                        ByteSize.format(bytes),
                        ByteSize.format(usable),
                        directory));
            }
            for (int attempt = 1; descriptor < 0; attempt++) {
                // a unique name, because other workers remove files of dead runs by name
                path = directory.toAbsolutePath().resolve(namePrefix(workerId) + HexFormat.of().toHexDigits(instance.high() + attempt - 1) + SUFFIX);
                descriptor = createLocked(path);
                if (descriptor < 0 && attempt == MAX_ATTEMPTS) {
                    throw new StoreException("other cache workers that started at the same moment removed %s: start again".formatted(path));
                }
            }
            if (group.isPresent()) {
                shareWith(path, descriptor, group.get());
            }
            Posix.ftruncate(path, descriptor, bytes);
            MemoryGrowth growth = new MemoryGrowth(path, descriptor, layout, allocator, left);
            growth.allocateFirst();
            MemorySegment memory;
            try (FileChannel channel = FileChannel.open(FileStatus.descriptorPath(descriptor), READ, WRITE)) {
                // only the garbage collector unmaps it, so that all buffers stay valid while they are referenced
                memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto());
            }
            SharedMemoryWriter writer = SharedMemoryWriter.format(memory, layout, instance, workerId);
            success = true;
            return new MemoryFile(path, descriptor, memory, writer, growth);
        }
        catch (DiskException e) {
            String problem = switch (e.reason()) {
                case NO_SPACE -> "%s does not have the memory with which a RAM tier of %s starts (%s): reduce cache.ram.max-size, or enlarge the file system".formatted(
                        directory,
                        ByteSize.format(bytes),
                        e.getMessage());
                case NOT_PERMITTED, READ_ONLY -> "cache.ram.directory cannot be written (%s): let this user write there, or name another".formatted(e.getMessage());
                case NOT_SUPPORTED -> "cache.ram.directory cannot allocate memory in advance (%s): name a directory on tmpfs".formatted(e.getMessage());
                default -> "cannot create the shared memory (%s): correct cache.ram.directory".formatted(e.getMessage());
            };
            throw new StoreException(problem, e);
        }
        catch (IOException e) {
            throw new StoreException("cannot create the shared memory in %s (%s): correct cache.ram.directory".formatted(directory, e), e);
        }
        finally {
            if (!success && descriptor >= 0) {
                tryRemoveName(path, descriptor);
                close(path, descriptor);
            }
        }
    }

    /**
     * Removes the name of an open file, if it still refers to this file.
     */
    static void removeName(Path path, int descriptor)
            throws IOException
    {
        if (isNameOf(path, descriptor)) {
            Files.deleteIfExists(path);
        }
    }

    private static boolean isNameOf(Path path, int descriptor)
            throws IOException
    {
        try {
            return FileStatus.ofPath(path).isSameFile(FileStatus.ofDescriptor(descriptor));
        }
        catch (NoSuchFileException e) {
            return false;
        }
    }

    private static void tryRemoveName(Path path, int descriptor)
    {
        try {
            removeName(path, descriptor);
        }
        catch (IOException e) {
            log.warn("Cannot remove %s: %s", path, e.getMessage());
        }
    }

    /**
     * @return the descriptor, or -1 if another starting worker found the file before it was locked, and took it for a
     *         dead run's
     */
    private static int createLocked(Path path)
            throws IOException
    {
        int descriptor = Posix.open(path, Posix.O_RDWR | Posix.O_CREAT | Posix.O_EXCL | Posix.O_NOFOLLOW, 0600);
        boolean locked = false;
        try {
            // another worker may have removed the file before the lock
            locked = Posix.tryLock(path, descriptor) && isNameOf(path, descriptor);
            return locked ? descriptor : -1;
        }
        finally {
            if (!locked) {
                close(path, descriptor);
            }
        }
    }

    private static void shareWith(Path path, int descriptor, String group)
            throws IOException, StoreException
    {
        PosixFileAttributeView view = Files.getFileAttributeView(FileStatus.descriptorPath(descriptor), PosixFileAttributeView.class);
        try {
            GroupPrincipal principal = path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(group);
            view.setGroup(principal);
        }
        catch (UserPrincipalNotFoundException e) {
            throw new StoreException("cache.worker.socket-group names the group %s, which does not exist: create it, or name another".formatted(group), e);
        }
        catch (AccessDeniedException e) {
            throw new StoreException("the cache worker may not give %s to the group %s of cache.worker.socket-group: make its user a member".formatted(path, group), e);
        }
        catch (IOException e) {
            throw new StoreException(
                    "the cache worker cannot give %s to the group %s of cache.worker.socket-group (%s): make its user a member".formatted(path, group, e.getMessage()),
                    e);
        }
        view.setPermissions(PosixFilePermissions.fromString("rw-r-----"));
    }

    public Path path()
    {
        return path;
    }

    /**
     * Starts to allocate the rest of the file and to move it into huge pages, on a thread that {@link #close} stops.
     *
     * @param grown called after each step, without any lock
     */
    public void grow(ThreadFactory threads, Runnable grown)
    {
        growth.start(threads, grown);
    }

    /**
     * Starts another attempt to allocate the rest of the file, if the last attempt failed.
     */
    public void retryGrowth()
    {
        growth.retry();
    }

    /**
     * Returns why the file does not grow, and the fix; empty if it grows or has its full size.
     */
    public Optional<String> problem()
    {
        return growth.problem();
    }

    /**
     * Returns the size of the allocated part of the file.
     */
    public long allocatedBytes()
    {
        return growth.allocatedBytes();
    }

    int allocatedSlabs()
    {
        return growth.slabCount();
    }

    MemoryGrowth growth()
    {
        return growth;
    }

    MemorySegment memory()
    {
        return memory;
    }

    public SharedMemoryWriter writer()
    {
        return writer;
    }

    /**
     * Frees the memory. Existing mappings then read zeros.
     */
    @Override
    public void close()
    {
        if (closed) {
            return;
        }
        closed = true;
        growth.stop();
        try {
            writer.setState(MemoryState.DEAD);
            punch(path, descriptor, writer.layout().framesOffset(), writer.layout().fileSizeBytes());
        }
        catch (DiskException e) {
            // at least remove the name, so that the last client's exit frees the memory
            log.warn("Cannot release the memory of %s: %s", path, e.getMessage());
            writer.withdrawFrames(growth.slabCount());
        }
        tryRemoveName(path, descriptor);
        close(path, descriptor);
    }

    /**
     * Ends like a killed process: keeps the file, but not its lock, and those of killed runs. For tests.
     */
    public void abandon()
    {
        closed = true;
        growth.stop();
        growth.left().abandon();
        close(path, descriptor);
    }

    static void close(Path path, int descriptor)
    {
        try {
            Posix.close(path, descriptor);
        }
        catch (DiskException e) {
            log.warn("Cannot close %s: %s", path, e.getMessage());
        }
    }
}
