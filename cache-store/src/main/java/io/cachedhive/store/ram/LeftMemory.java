package io.cachedhive.store.ram;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.protocol.memory.MemoryFormatException;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryWriter;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.Posix;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;

/**
 * The shared-memory files that killed runs left in a directory, and their memory.
 *
 * <p>Clients may keep such a file mapped, which would keep its memory. So holes are punched into it before its name is
 * removed. This takes about a third of a second per GiB, so it is done in steps: the next run frees as much as it needs
 * to serve, and the rest before its own file grows. Thus the host never holds the memory of both. A file keeps its name
 * until all of its memory is free, and is locked meanwhile, so that the run after a killed one starts over. A hole in a
 * hole changes nothing.
 *
 * <p>The order is: set the header to DEAD; zero the index and frame headers in a separate call, so that a concurrent
 * reader finds its generation gone; free the frames; unlink the name.
 */
public final class LeftMemory
        implements Closeable
{
    private static final Logger log = Logger.get(LeftMemory.class);

    private static final long STEP_BYTES = 1L << 30;

    private final List<RecoveryOutcome> outcomes = new ArrayList<>();
    @GuardedBy("this")
    private final ArrayDeque<LeftFile> files = new ArrayDeque<>();

    private static final class LeftFile
    {
        final Path path;
        final int descriptor;
        final long bytes;
        // everything before it is free
        long freeFrom;

        LeftFile(Path path, int descriptor, long bytes, long freeFrom)
        {
            this.path = requireNonNull(path, "path is null");
            this.descriptor = descriptor;
            this.bytes = bytes;
            this.freeFrom = freeFrom;
        }
    }

    private LeftMemory() {}

    /**
     * Locks the files of all runs that ended without removing them. Their clients find nothing in them any more.
     *
     * <p>Other users may be able to create files in the directory. A file is therefore opened without following a link,
     * and only used if the open file is a regular one of this user with one name. All others are skipped and reported:
     * they are never changed, mapped or deleted.
     *
     * @throws StoreException if another run of this worker is active
     */
    public static LeftMemory takeOver(Path directory, CacheWorkerId workerId)
            throws StoreException
    {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, MemoryFile.PREFIX + "*" + MemoryFile.SUFFIX)) {
            stream.forEach(files::add);
        }
        catch (IOException | DirectoryIteratorException e) {
            throw new StoreException("cache.ram.directory %s cannot be listed (%s): let this user read and write it, or name another".formatted(directory, e.getMessage()), e);
        }
        LeftMemory left = new LeftMemory();
        boolean success = false;
        try {
            for (Path file : files) {
                left.takeOverFile(file, workerId);
            }
            success = true;
            return left;
        }
        finally {
            if (!success) {
                left.close();
            }
        }
    }

    private synchronized void takeOverFile(Path file, CacheWorkerId workerId)
            throws StoreException
    {
        int descriptor;
        try {
            descriptor = Posix.open(file, Posix.O_RDWR | Posix.O_NOFOLLOW | Posix.O_NONBLOCK, 0);
        }
        catch (DiskException e) {
            if (e.reason() != DiskException.Cause.NOT_FOUND) {
                skip(file, e.getMessage());
            }
            // otherwise deleted meanwhile
            return;
        }
        boolean kept = false;
        try {
            FileStatus status = FileStatus.ofDescriptor(descriptor);
            if (status.linkCount() == 0) {
                // deleted meanwhile
                return;
            }
            Optional<String> foreign = status.problemForOwner(Posix.userId());
            if (foreign.isPresent()) {
                skip(file, foreign.get());
                return;
            }
            if (!Posix.tryLock(file, descriptor)) {
                if (file.getFileName().toString().startsWith(MemoryFile.namePrefix(workerId))) {
                    throw new StoreException(
                            "cache worker %s is running on this host, as it holds %s: stop it, or give this one other directories".formatted(workerId, file));
                }
                return;
            }
            long bytes = Posix.size(file, descriptor);
            if (bytes == 0) {
                // the file of a run killed at its start, or of another worker that is starting
                MemoryFile.removeName(file, descriptor);
                return;
            }
            files.add(new LeftFile(file, descriptor, bytes, withdraw(file, descriptor, bytes)));
            kept = true;
            outcomes.add(new RecoveryOutcome(
                    RecoveryFinding.MEMORY_FILE_RECLAIMED,
                    file,
                    "left by a cache worker that did not stop cleanly; its memory of up to %s is freed".formatted(ByteSize.format(bytes))));
        }
        catch (IOException e) {
            throw failure(file, e);
        }
        finally {
            if (!kept) {
                MemoryFile.close(file, descriptor);
            }
        }
    }

    private void skip(Path file, String problem)
    {
        outcomes.add(new RecoveryOutcome(
                RecoveryFinding.MEMORY_FILE_FOREIGN,
                file,
                "skipped, because it may be another user's (%s): remove it unless another cache worker uses it, and set cache.ram.directory to a directory of this user's own"
                        .formatted(problem)));
    }

    /**
     * @return the offset of what is left to free
     */
    private static long withdraw(Path file, int descriptor, long bytes)
            throws IOException
    {
        if (bytes <= MemoryLayout.headerBytes()) {
            return bytes;
        }
        long framesOffset;
        try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel.open(FileStatus.descriptorPath(descriptor), READ, WRITE)) {
            SharedMemoryWriter writer = SharedMemoryWriter.takeOver(channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena), file);
            writer.setState(MemoryState.DEAD);
            framesOffset = writer.layout().framesOffset();
        }
        catch (MemoryFormatException | InternalError e) {
            // another version, or killed before it wrote the header: no current client has mapped it
            log.debug("no valid header in %s: %s", file, e.getMessage());
            return MemoryLayout.headerBytes();
        }
        if (framesOffset > MemoryLayout.headerBytes()) {
            Posix.punchHole(file, descriptor, MemoryLayout.headerBytes(), framesOffset - MemoryLayout.headerBytes());
        }
        return framesOffset;
    }

    /**
     * Returns what was found, a line per file.
     */
    public List<RecoveryOutcome> outcomes()
    {
        return List.copyOf(outcomes);
    }

    /**
     * Returns the size of what is not free yet. It is an upper limit, because a killed run may not have used all of it.
     */
    public synchronized long bytes()
    {
        return files.stream().mapToLong(file -> file.bytes - file.freeFrom).sum();
    }

    /**
     * Frees so many bytes, or all.
     */
    public void free(long bytes)
            throws StoreException
    {
        long missing = bytes;
        boolean more = true;
        while (more && missing > 0) {
            long before = bytes();
            more = freeStep(missing);
            missing -= before - bytes();
        }
    }

    /**
     * Frees up to a GiB. Removes the files that are free.
     *
     * @return whether there is more
     * @throws StoreException if a file cannot be freed; the next call tries again
     */
    public boolean freeStep()
            throws StoreException
    {
        return freeStep(STEP_BYTES);
    }

    private synchronized boolean freeStep(long maxBytes)
            throws StoreException
    {
        Iterator<LeftFile> iterator = files.iterator();
        if (!iterator.hasNext()) {
            return false;
        }
        LeftFile file = iterator.next();
        try {
            long step = Math.min(Math.min(STEP_BYTES, maxBytes), file.bytes - file.freeFrom);
            if (step > 0) {
                Posix.punchHole(file.path, file.descriptor, file.freeFrom, step);
            }
            file.freeFrom += step;
            if (file.freeFrom == file.bytes) {
                MemoryFile.removeName(file.path, file.descriptor);
                iterator.remove();
                MemoryFile.close(file.path, file.descriptor);
            }
        }
        catch (IOException e) {
            throw failure(file.path, e);
        }
        return !files.isEmpty();
    }

    private static StoreException failure(Path file, IOException failure)
    {
        return new StoreException("the memory that a killed worker left in %s cannot be freed (%s): remove the file".formatted(file, failure.getMessage()), failure);
    }

    /**
     * Frees the rest.
     */
    @Override
    public synchronized void close()
    {
        try {
            while (freeStep()) {
                // until the end
            }
        }
        catch (StoreException e) {
            log.warn("%s", e.getMessage());
            abandon();
        }
    }

    /**
     * Keeps the files and unlocks them, like a killed process.
     */
    public synchronized void abandon()
    {
        files.forEach(file -> MemoryFile.close(file.path, file.descriptor));
        files.clear();
    }
}
