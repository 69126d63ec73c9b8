package io.cachedhive.protocol.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.file.StandardOpenOption.READ;

/**
 * A file in a directory that other users may write to, opened for reading without following a link and without waiting
 * for a writer of a FIFO. Its {@link #status} is that of the open file, so another process cannot replace the file
 * between the check and its use. For 64-bit Linux.
 */
final class CheckedFile
        implements AutoCloseable
{
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

    private static final int O_RDONLY = 0;
    private static final int O_NONBLOCK = 04000;
    private static final int O_NOFOLLOW = ARM ? 0100000 : 0400000;
    private static final int O_CLOEXEC = 02000000;

    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int EACCES = 13;
    private static final int ELOOP = 40;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CAPTURE_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE_LAYOUT.varHandle(PathElement.groupElement("errno"));

    private static final MethodHandle OPEN =
            handle("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Linker.Option.firstVariadicArg(2), CAPTURE_ERRNO);
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final Path path;
    private final int descriptor;

    private CheckedFile(Path path, int descriptor)
    {
        this.path = path;
        this.descriptor = descriptor;
    }

    @SuppressWarnings("restricted") // the class calls the system
    private static MethodHandle handle(String name, FunctionDescriptor function, Linker.Option... options)
    {
        return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), function, options);
    }

    /**
     * @throws UnsafeFileException if the path is a symbolic link
     * @throws IOException if it cannot be opened
     */
    static CheckedFile open(Path path)
            throws IOException
    {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CAPTURE_LAYOUT);
            MemorySegment name = arena.allocateFrom(path.toString());
            while (true) {
                int descriptor;
                try {
                    descriptor = (int) OPEN.invokeExact(state, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
                }
                catch (Throwable e) {
                    throw new AssertionError("open(2) cannot be called", e);
                }
                if (descriptor >= 0) {
                    return new CheckedFile(path, descriptor);
                }
                int errno = (int) ERRNO.get(state, 0L);
                switch (errno) {
                    case EINTR -> {
                        // again
                    }
                    case ELOOP -> throw new UnsafeFileException("it is a symbolic link");
                    case ENOENT -> throw new NoSuchFileException(path.toString());
                    case EACCES -> throw new AccessDeniedException(path.toString());
                    default -> throw new FileSystemException(path.toString(), null, "error " + errno);
                }
            }
        }
    }

    FileStatus status()
            throws IOException
    {
        return FileStatus.ofDescriptor(descriptor);
    }

    /**
     * Opens a channel of the same file.
     */
    FileChannel channel()
            throws IOException
    {
        return FileChannel.open(FileStatus.descriptorPath(descriptor), READ);
    }

    @Override
    public void close()
    {
        int result;
        try {
            result = (int) CLOSE.invokeExact(descriptor);
        }
        catch (Throwable e) {
            throw new AssertionError("close(2) cannot be called", e);
        }
        if (result != 0) {
            throw new IllegalStateException("close of %s failed".formatted(path));
        }
    }
}
