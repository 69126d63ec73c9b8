package io.cachedhive.benchmark.store;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;
import io.cachedhive.store.disk.LocalDisk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;

/**
 * This machine's disk, on which slabs take no space: of a block only the 64 bytes are kept that say what it is, in a file beside, and
 * its payload is made anew from them when it is read. Superblock, journal and checkpoints are real files.
 */
final class SyntheticSlabDisk
        implements Disk
{
    private static final int TRAILER_BYTES = 64;
    // where the trailer of an extent has the digest of its block
    private static final int DIGEST_OFFSET = 8;
    // payload and trailer, in units of 4 KiB
    private static final int EXTENT_BYTES = SyntheticBlocks.BLOCK_BYTES + DiskFile.ALIGNMENT_BYTES;

    private final Disk disk = new LocalDisk();
    private final Path trailers;
    private final AtomicInteger checkpointing = new AtomicInteger();

    /**
     * @param trailers directory for what is kept of blocks
     */
    SyntheticSlabDisk(Path trailers)
    {
        this.trailers = requireNonNull(trailers, "trailers is null");
    }

    /**
     * Odd while a checkpoint is being written.
     */
    int checkpointing()
    {
        return checkpointing.get();
    }

    @Override
    public DiskFile open(Path file, boolean create, Access access)
            throws IOException
    {
        String name = file.getFileName().toString();
        if (name.startsWith("slab-")) {
            return new SyntheticSlab(FileChannel.open(file, READ, WRITE, CREATE), FileChannel.open(trailers.resolve(name), READ, WRITE, CREATE));
        }
        DiskFile opened = disk.open(file, create, name.startsWith("checkpoint-") ? Access.BUFFERED : access);
        return name.startsWith("checkpoint-") ? new WatchedFile(opened) : opened;
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
    {
        return 1L << 60;
    }

    @Override
    public long usableBytes(Path directory)
    {
        return 1L << 60;
    }

    @Override
    public Optional<Closeable> tryLock(Path file)
            throws IOException
    {
        return disk.tryLock(file);
    }

    private static final class SyntheticSlab
            implements DiskFile
    {
        private final FileChannel file;
        private final FileChannel trailers;

        SyntheticSlab(FileChannel file, FileChannel trailers)
        {
            this.file = requireNonNull(file, "file is null");
            this.trailers = requireNonNull(trailers, "trailers is null");
        }

        @Override
        public int read(long position, ByteBuffer target)
                throws IOException
        {
            int length = target.remaining();
            if (length != EXTENT_BYTES) {
                // whether the slab can be read at all
                return file.read(target, position);
            }
            ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            trailers.read(trailer, place(position));
            long high = trailer.getLong(DIGEST_OFFSET);
            long low = trailer.getLong(DIGEST_OFFSET + 8);
            int start = target.position();
            SyntheticBlocks.write(high, low, target.duplicate().limit(start + SyntheticBlocks.BLOCK_BYTES));
            for (int i = start + SyntheticBlocks.BLOCK_BYTES; i < start + length - TRAILER_BYTES; i += 8) {
                target.putLong(i, 0);
            }
            target.put(start + length - TRAILER_BYTES, trailer.array(), 0, TRAILER_BYTES);
            target.position(start + length);
            return length;
        }

        @Override
        public int read(long position, List<ByteBuffer> targets)
                throws IOException
        {
            ByteBuffer extent = ByteBuffer.allocate(targets.stream().mapToInt(ByteBuffer::remaining).sum());
            int count = read(position, extent);
            extent.flip();
            for (ByteBuffer target : targets) {
                int length = Math.min(target.remaining(), extent.remaining());
                target.put(extent.slice(extent.position(), length));
                extent.position(extent.position() + length);
            }
            return count;
        }

        @Override
        public void write(long position, ByteBuffer source)
                throws IOException
        {
            write(position, List.of(source));
        }

        @Override
        public void write(long position, List<ByteBuffer> sources)
                throws IOException
        {
            int bytes = sources.stream().mapToInt(ByteBuffer::remaining).sum();
            if (bytes != EXTENT_BYTES) {
                throw new IOException("only whole blocks can be written: %s bytes".formatted(bytes));
            }
            // the store writes the trailer with the last unit
            ByteBuffer tail = sources.getLast();
            ByteBuffer trailer = tail.slice(tail.limit() - TRAILER_BYTES, TRAILER_BYTES);
            long place = place(position);
            while (trailer.hasRemaining()) {
                trailers.write(trailer, place + trailer.position());
            }
            sources.forEach(source -> source.position(source.limit()));
        }

        private static long place(long position)
        {
            return position / EXTENT_BYTES * TRAILER_BYTES;
        }

        @Override
        public void sync()
        {
            // what stands for the slabs' bytes is not what is measured
        }

        @Override
        public void allocate(long sizeBytes)
                throws IOException
        {
            file.truncate(sizeBytes);
            if (file.size() < sizeBytes) {
                file.write(ByteBuffer.allocate(1), sizeBytes - 1);
            }
        }

        @Override
        public long size()
                throws IOException
        {
            return file.size();
        }

        @Override
        public void close()
                throws IOException
        {
            file.close();
            trailers.close();
        }
    }

    /**
     * A checkpoint's file: writing one begins and ends with its header.
     */
    private final class WatchedFile
            implements DiskFile
    {
        private final DiskFile file;

        WatchedFile(DiskFile file)
        {
            this.file = requireNonNull(file, "file is null");
        }

        @Override
        public int read(long position, ByteBuffer target)
                throws IOException
        {
            return file.read(position, target);
        }

        @Override
        public void write(long position, ByteBuffer source)
                throws IOException
        {
            boolean begins = position == 0 && checkpointing.get() % 2 == 0;
            if (begins) {
                checkpointing.incrementAndGet();
            }
            file.write(position, source);
            if (position == 0 && !begins) {
                checkpointing.incrementAndGet();
            }
        }

        @Override
        public void sync()
                throws IOException
        {
            file.sync();
        }

        @Override
        public void allocate(long sizeBytes)
                throws IOException
        {
            file.allocate(sizeBytes);
        }

        @Override
        public long size()
                throws IOException
        {
            return file.size();
        }

        @Override
        public void close()
                throws IOException
        {
            file.close();
        }
    }
}
