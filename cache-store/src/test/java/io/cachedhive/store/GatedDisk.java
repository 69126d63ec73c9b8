package io.cachedhive.store;

import com.google.common.collect.Range;
import com.google.common.collect.RangeSet;
import com.google.common.collect.TreeRangeSet;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.DiskFile;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

import static java.util.Objects.requireNonNull;

/**
 * A disk of which only the thread that made this one reads the same place of a checkpoint twice; all others wait at a gate then: what is restored in
 * the background is read for the second time, and not restored before the gate is opened.
 */
final class GatedDisk
        implements Disk
{
    private final Disk disk;
    private final Thread opener = Thread.currentThread();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final Map<Path, RangeSet<Long>> read = new HashMap<>();
    private volatile boolean failing;

    GatedDisk(Disk disk)
    {
        this.disk = requireNonNull(disk, "disk is null");
    }

    void openGate()
    {
        gate.countDown();
    }

    /**
     * Opens the gate, and behind it nothing can be read.
     */
    void fail()
    {
        failing = true;
        openGate();
    }

    /**
     * @return whether it is the first read there
     */
    private synchronized boolean setRead(Path file, long position, int length)
    {
        RangeSet<Long> ranges = read.computeIfAbsent(file, _ -> TreeRangeSet.create());
        boolean first = !ranges.contains(position);
        ranges.add(Range.closedOpen(position, position + length));
        return first;
    }

    private void pass(Path file, long position, int length)
            throws IOException
    {
        if (!file.getFileName().toString().startsWith("checkpoint") || setRead(file, position, length) || Thread.currentThread() == opener) {
            return;
        }
        try {
            gate.await();
        }
        catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (failing) {
            throw new DiskException(DiskException.Cause.IO_ERROR, "read of %s failed: planted".formatted(file));
        }
    }

    @Override
    public DiskFile open(Path file, boolean create, Access access)
            throws IOException
    {
        DiskFile opened = disk.open(file, create, access);
        return new DiskFile()
        {
            @Override
            public int read(long position, ByteBuffer target)
                    throws IOException
            {
                pass(file, position, target.remaining());
                return opened.read(position, target);
            }

            @Override
            public void write(long position, ByteBuffer source)
                    throws IOException
            {
                opened.write(position, source);
            }

            @Override
            public void sync()
                    throws IOException
            {
                opened.sync();
            }

            @Override
            public void allocate(long sizeBytes)
                    throws IOException
            {
                opened.allocate(sizeBytes);
            }

            @Override
            public long size()
                    throws IOException
            {
                return opened.size();
            }

            @Override
            public void close()
                    throws IOException
            {
                opened.close();
            }
        };
    }

    @Override
    public List<String> list(Path directory)
            throws IOException
    {
        return disk.list(directory);
    }

    @Override
    public boolean exists(Path file)
    {
        return disk.exists(file);
    }

    @Override
    public Path mountPoint(Path directory)
            throws IOException
    {
        return disk.mountPoint(directory);
    }

    @Override
    public void delete(Path file)
            throws IOException
    {
        disk.delete(file);
    }

    @Override
    public void syncDirectory(Path directory)
            throws IOException
    {
        disk.syncDirectory(directory);
    }

    @Override
    public void rename(Path file, Path target)
            throws IOException
    {
        disk.rename(file, target);
    }

    @Override
    public Optional<byte[]> read(Path file)
            throws IOException
    {
        return disk.read(file);
    }

    @Override
    public long totalBytes(Path directory)
            throws IOException
    {
        return disk.totalBytes(directory);
    }

    @Override
    public long usableBytes(Path directory)
            throws IOException
    {
        return disk.usableBytes(directory);
    }

    @Override
    public Optional<Closeable> tryLock(Path file)
            throws IOException
    {
        return disk.tryLock(file);
    }
}
