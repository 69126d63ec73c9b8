package io.cachedhive.store.disk;

import io.cachedhive.store.disk.DiskException.Cause;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * System calls missing from the JDK: fallocate(2), flock(2), madvise(2), and reads and writes that survive an
 * interrupt. For 64-bit Linux.
 */
public final class Posix
{
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

    public static final int O_RDONLY = 0;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    /**
     * Returns at once from the open of a FIFO. Has no effect on regular files.
     */
    public static final int O_NONBLOCK = 04000;
    /**
     * Fails if the last part of the path is a symbolic link.
     */
    public static final int O_NOFOLLOW = ARM ? 0100000 : 0400000;
    public static final int O_DIRECT = ARM ? 0200000 : 040000;
    private static final int O_CLOEXEC = 02000000;

    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;

    private static final int PROT_NONE = 0;
    private static final int PROT_READ = 1;
    private static final int MAP_SHARED = 0x01;
    private static final int MAP_PRIVATE = 0x02;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MADV_COLLAPSE = 25;

    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;

    private static final int SEEK_END = 2;

    private static final int EPERM = 1;
    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int EIO = 5;
    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EEXIST = 17;
    private static final int ENOTDIR = 20;
    private static final int EINVAL = 22;
    private static final int ENOSPC = 28;
    private static final int EROFS = 30;
    private static final int ENOSYS = 38;
    private static final int ELOOP = 40;
    private static final int EOPNOTSUPP = 95;
    private static final int EDQUOT = 122;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CAPTURE_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle OPEN = handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle PREAD = handle("pread", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle PREADV = handle("preadv", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG));
    private static final MethodHandle PWRITE = handle("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle PWRITEV = handle("pwritev", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FSYNC = handle("fsync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle FDATASYNC = handle("fdatasync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle FALLOCATE = handle("fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FTRUNCATE = handle("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle LSEEK = handle("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MMAP = handle("mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MUNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MADVISE = handle("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle GETEUID = handle("geteuid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle FLOCK = handle("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

    private Posix() {}

    @SuppressWarnings("restricted") // the class calls the system
    private static MethodHandle handle(String name, FunctionDescriptor function, Linker.Option... options)
    {
        Linker.Option[] all = new Linker.Option[options.length + 1];
        all[0] = CAPTURE_ERRNO;
        System.arraycopy(options, 0, all, 1, options.length);
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), function, all);
    }

    /**
     * @param mode permissions of a new file
     * @return a descriptor
     */
    public static int open(Path path, int flags, int mode)
            throws DiskException
    {
        return (int) call("open", path, arena -> {
            MemorySegment name = arena.allocateFrom(path.toString());
            return errno -> (int) OPEN.invokeExact(errno, name, flags | O_CLOEXEC, mode);
        });
    }

    public static void close(Path path, int descriptor)
            throws DiskException
    {
        call("close", path, _ -> errno -> (int) CLOSE.invokeExact(errno, descriptor));
    }

    static int pread(Path path, int descriptor, ByteBuffer target, long position)
            throws DiskException
    {
        MemorySegment segment = MemorySegment.ofBuffer(target);
        return (int) call("read", path, _ -> errno -> (long) PREAD.invokeExact(errno, descriptor, segment, segment.byteSize(), position));
    }

    static int preadv(Path path, int descriptor, List<ByteBuffer> targets, long position)
            throws DiskException
    {
        return (int) call("read", path, arena -> {
            MemorySegment vectors = vectors(arena, targets);
            return errno -> {
                try {
                    return (long) PREADV.invokeExact(errno, descriptor, vectors, targets.size(), position);
                }
                finally {
                    Reference.reachabilityFence(targets);
                }
            };
        });
    }

    /**
     * The result has raw addresses, so the buffers have to stay reachable during the call.
     */
    private static MemorySegment vectors(SegmentAllocator allocator, List<ByteBuffer> buffers)
    {
        // struct iovec: 64-bit address, 64-bit length
        MemorySegment vectors = allocator.allocate(JAVA_LONG, 2L * buffers.size());
        for (int i = 0; i < buffers.size(); i++) {
            MemorySegment segment = MemorySegment.ofBuffer(buffers.get(i));
            vectors.setAtIndex(JAVA_LONG, 2L * i, segment.address());
            vectors.setAtIndex(JAVA_LONG, 2L * i + 1, segment.byteSize());
        }
        return vectors;
    }

    static int pwrite(Path path, int descriptor, ByteBuffer source, long position)
            throws DiskException
    {
        MemorySegment segment = MemorySegment.ofBuffer(source);
        return (int) call("write", path, _ -> errno -> (long) PWRITE.invokeExact(errno, descriptor, segment, segment.byteSize(), position));
    }

    static int pwritev(Path path, int descriptor, List<ByteBuffer> sources, long position)
            throws DiskException
    {
        return (int) call("write", path, arena -> {
            MemorySegment vectors = vectors(arena, sources);
            return errno -> {
                try {
                    return (long) PWRITEV.invokeExact(errno, descriptor, vectors, sources.size(), position);
                }
                finally {
                    Reference.reachabilityFence(sources);
                }
            };
        });
    }

    static void fsync(Path path, int descriptor)
            throws DiskException
    {
        call("fsync", path, _ -> errno -> (int) FSYNC.invokeExact(errno, descriptor));
    }

    static void fdatasync(Path path, int descriptor)
            throws DiskException
    {
        call("fdatasync", path, _ -> errno -> (int) FDATASYNC.invokeExact(errno, descriptor));
    }

    /**
     * Allocates space for a range of a file, and extends the file if necessary.
     */
    public static void fallocate(Path path, int descriptor, int mode, long offset, long length)
            throws DiskException
    {
        call("fallocate", path, _ -> errno -> (int) FALLOCATE.invokeExact(errno, descriptor, mode, offset, length));
    }

    /**
     * Frees the space of a range, which then reads as zeros. The size of the file does not change.
     */
    public static void punchHole(Path path, int descriptor, long offset, long length)
            throws DiskException
    {
        fallocate(path, descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
    }

    /**
     * Sets the size of a file. A longer file gets a hole.
     */
    public static void ftruncate(Path path, int descriptor, long size)
            throws DiskException
    {
        call("ftruncate", path, _ -> errno -> (int) FTRUNCATE.invokeExact(errno, descriptor, size));
    }

    /**
     * Reserves an address range of this process without memory behind it.
     *
     * @return the start address
     */
    public static long reserveAddresses(Path path, long length)
            throws DiskException
    {
        return call("mmap", path, _ -> errno -> (long) MMAP.invokeExact(errno, 0L, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L));
    }

    /**
     * Maps a range of the file read-only at reserved addresses, replacing an earlier mapping.
     */
    public static void mapAt(Path path, int descriptor, long address, long offset, long length)
            throws DiskException
    {
        call("mmap", path, _ -> errno -> (long) MMAP.invokeExact(errno, address, length, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, offset));
    }

    public static void unmap(Path path, long address, long length)
            throws DiskException
    {
        call("munmap", path, _ -> errno -> (int) MUNMAP.invokeExact(errno, address, length));
    }

    /**
     * Moves the mapped memory into huge pages for all processes that map it, regardless of system settings. Requires
     * Linux 6.1 or newer.
     */
    public static void collapse(Path path, long address, long length)
            throws DiskException
    {
        call("madvise", path, _ -> errno -> (int) MADVISE.invokeExact(errno, address, length, MADV_COLLAPSE));
    }

    /**
     * Returns the size of a file. Moves the position of the descriptor, which no caller uses.
     */
    public static long size(Path path, int descriptor)
            throws DiskException
    {
        return call("lseek", path, _ -> errno -> (long) LSEEK.invokeExact(errno, descriptor, 0L, SEEK_END));
    }

    /**
     * Locks the open file description. Any other descriptor of the file is rejected, even in this process, and closing
     * another descriptor does not unlock it.
     */
    public static boolean tryLock(Path path, int descriptor)
            throws DiskException
    {
        try {
            call("flock", path, _ -> errno -> (int) FLOCK.invokeExact(errno, descriptor, LOCK_EX | LOCK_NB));
            return true;
        }
        catch (LockedException e) {
            return false;
        }
    }

    /**
     * Returns the numeric id of the user to whom the files belong that this process creates.
     */
    public static int userId()
    {
        try (Arena arena = Arena.ofConfined()) {
            // it has no errors
            return (int) GETEUID.invokeExact(arena.allocate(CAPTURE_LAYOUT));
        }
        catch (Throwable e) {
            throw new AssertionError("system call geteuid cannot be made", e);
        }
    }

    private interface Prepared
    {
        SystemCall in(Arena arena);
    }

    private interface SystemCall
    {
        long run(MemorySegment errno)
                throws Throwable;
    }

    private static long call(String name, Path path, Prepared prepared)
            throws DiskException
    {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CAPTURE_LAYOUT);
            SystemCall call = prepared.in(arena);
            while (true) {
                long result;
                try {
                    result = call.run(state);
                }
                catch (Throwable e) {
                    throw new AssertionError("system call %s cannot be made".formatted(name), e);
                }
                if (result >= 0) {
                    return result;
                }
                int errno = (int) ERRNO.get(state, 0L);
                if (errno == EINTR) {
                    continue;
                }
                throw failure(name, path, errno);
            }
        }
    }

    private static DiskException failure(String name, Path path, int errno)
    {
        return switch (errno) {
            case ENOENT -> failure(Cause.NOT_FOUND, name, path, "no such file or directory");
            case ENOTDIR -> failure(Cause.NOT_FOUND, name, path, "not a directory");
            case EEXIST -> failure(Cause.EXISTS, name, path, "file exists");
            case EPERM -> failure(Cause.NOT_PERMITTED, name, path, "operation not permitted");
            case EACCES -> failure(Cause.NOT_PERMITTED, name, path, "permission denied");
            case ENOSPC -> failure(Cause.NO_SPACE, name, path, "no space left on device");
            case EDQUOT -> failure(Cause.NO_SPACE, name, path, "disk quota exceeded");
            case EROFS -> failure(Cause.READ_ONLY, name, path, "read-only file system");
            case ENOMEM -> failure(Cause.OTHER, name, path, "cannot allocate memory");
            case ELOOP -> failure(Cause.OTHER, name, path, "it is a symbolic link, which is not followed");
            case EIO -> failure(Cause.IO_ERROR, name, path, "input/output error");
            case EINVAL, ENOSYS, EOPNOTSUPP -> failure(Cause.NOT_SUPPORTED, name, path, "not supported (error %s)".formatted(errno));
            case EAGAIN -> new LockedException(path);
            default -> failure(Cause.OTHER, name, path, "error " + errno);
        };
    }

    private static DiskException failure(Cause cause, String name, Path path, String reason)
    {
        return new DiskException(cause, "%s of %s failed: %s".formatted(name, path, reason));
    }

    private static final class LockedException
            extends DiskException
    {
        LockedException(Path path)
        {
            super(Cause.OTHER, "%s is locked".formatted(path));
        }
    }
}
