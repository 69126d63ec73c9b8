package io.cachedhive.store.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import static java.util.Objects.requireNonNull;

/**
 * A file descriptor. Closing it waits for running calls, because the system may reuse its number for another file.
 */
final class LocalFile
        implements DiskFile
{
    private final Path path;
    private final int descriptor;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    @GuardedBy("lock")
    private boolean closed;

    LocalFile(Path path, int descriptor)
    {
        this.path = requireNonNull(path, "path is null");
        this.descriptor = descriptor;
    }

    int descriptor()
    {
        return descriptor;
    }

    @Override
    public int read(long position, ByteBuffer target)
            throws IOException
    {
        return call(() -> {
            int wanted = target.remaining();
            while (target.hasRemaining()) {
                int count = Posix.pread(path, descriptor, target, position + wanted - target.remaining());
                if (count == 0) {
                    break;
                }
                target.position(target.position() + count);
            }
            return wanted - target.remaining();
        });
    }

    /**
     * Reads with a single system call, unless it ends early, because two consecutive SSD reads would take twice as
     * long.
     */
    @Override
    public int read(long position, List<ByteBuffer> targets)
            throws IOException
    {
        return call(() -> {
            int total = 0;
            while (targets.stream().anyMatch(ByteBuffer::hasRemaining)) {
                int count = Posix.preadv(path, descriptor, targets, position + total);
                if (count == 0) {
                    break;
                }
                advance(targets, count);
                total += count;
            }
            return total;
        });
    }

    private static void advance(List<ByteBuffer> buffers, int count)
    {
        for (ByteBuffer buffer : buffers) {
            int done = Math.min(count, buffer.remaining());
            buffer.position(buffer.position() + done);
            count -= done;
        }
    }

    @Override
    public void write(long position, ByteBuffer source)
            throws IOException
    {
        call(() -> {
            int wanted = source.remaining();
            while (source.hasRemaining()) {
                int count = Posix.pwrite(path, descriptor, source, position + wanted - source.remaining());
                source.position(source.position() + count);
            }
            return null;
        });
    }

    /**
     * Writes with a single system call, unless it ends early: two consecutive writes would take twice as long.
     */
    @Override
    public void write(long position, List<ByteBuffer> sources)
            throws IOException
    {
        call(() -> {
            long next = position;
            while (sources.stream().anyMatch(ByteBuffer::hasRemaining)) {
                int count = Posix.pwritev(path, descriptor, sources, next);
                advance(sources, count);
                next += count;
            }
            return null;
        });
    }

    @Override
    public void sync()
            throws IOException
    {
        call(() -> {
            Posix.fdatasync(path, descriptor);
            return null;
        });
    }

    @Override
    public void allocate(long sizeBytes)
            throws IOException
    {
        call(() -> {
            if (Posix.size(path, descriptor) > sizeBytes) {
                Posix.ftruncate(path, descriptor, sizeBytes);
            }
            Posix.fallocate(path, descriptor, 0, 0, sizeBytes);
            return null;
        });
    }

    @Override
    public long size()
            throws IOException
    {
        return call(() -> Posix.size(path, descriptor));
    }

    private interface Call<T>
    {
        T run()
                throws IOException;
    }

    private <T> T call(Call<T> call)
            throws IOException
    {
        lock.readLock().lock();
        try {
            if (closed) {
                throw new ClosedChannelException();
            }
            return call.run();
        }
        finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public void close()
            throws IOException
    {
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                Posix.close(path, descriptor);
            }
        }
        finally {
            lock.writeLock().unlock();
        }
    }
}
