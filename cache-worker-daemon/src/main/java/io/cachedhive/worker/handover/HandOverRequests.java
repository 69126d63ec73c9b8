package io.cachedhive.worker.handover;

import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.HandOverMessage;
import io.cachedhive.protocol.wire.HandOverMessage.DescribedBlock;
import io.cachedhive.protocol.wire.HandOverMessage.Description;
import io.cachedhive.protocol.wire.HandOverMessage.FileBlocks;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.HandOverMessage.HandedOver;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.FileDescription;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.transport.WorkerException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import static com.google.common.collect.Lists.partition;
import static java.util.Objects.requireNonNull;

/**
 * Handles hand-over requests of other workers: describes blocks of a file, and receives blocks of a draining worker.
 */
public final class HandOverRequests
{
    private static final Logger log = Logger.get(HandOverRequests.class);

    private static final long BYTES_AT_ONCE = 1 << 20;
    private static final long WRITE_PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long WRITE_PAUSE_NANOS = Duration.ofMillis(5).toNanos();
    // frames cannot be reused sooner after they are freed
    private static final long FRAME_PAUSE_NANOS = Duration.ofMillis(100).toNanos();
    private static final int MAX_ATTEMPTS = 5;

    private final BlockStore store;
    private final FormerOwners formerOwners;
    private final PeerReader reader;
    private final HandOverCounters counters;
    private final Executor executor;
    private final BooleanSupplier leaving;

    /**
     * @param executor receives blocks, a few at a time, after all reads; rejects tasks when its queue is full
     * @param leaving returns whether this worker itself is draining
     */
    HandOverRequests(BlockStore store, FormerOwners formerOwners, PeerReader reader, HandOverCounters counters, Executor executor, BooleanSupplier leaving)
    {
        this.store = requireNonNull(store, "store is null");
        this.formerOwners = requireNonNull(formerOwners, "formerOwners is null");
        this.reader = requireNonNull(reader, "reader is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.executor = requireNonNull(executor, "executor is null");
        this.leaving = requireNonNull(leaving, "leaving is null");
    }

    public Description describe(HandOverMessage.Describe request)
    {
        Optional<FileDescription> found = store.contents().describe(request.file(), request.firstBlock(), request.blockCount())
                .filter(description -> !description.metadata().provisional() && !description.blocks().isEmpty());
        if (found.isEmpty()) {
            return Description.UNKNOWN;
        }
        FileMetadata metadata = found.get().metadata();
        List<DescribedBlock> blocks = found.get().blocks().entrySet().stream()
                .map(block -> new DescribedBlock(block.getKey(), block.getValue().blockClass().ordinal(), block.getValue().expirySeconds()))
                .toList();
        return new Description(true, metadata.etag(), metadata.table(), blocks);
    }

    /**
     * Receives blocks from a draining worker. Returns immediately.
     *
     * @param answer called when the blocks have been received, or with the error
     */
    public void take(HandOver request, Consumer<Message> answer)
    {
        if (leaving.getAsBoolean()) {
            answer.accept(new ControlMessage.Error("this cache worker is draining itself"));
            return;
        }
        Optional<Peer> sender = formerOwners.find(request.sender());
        if (sender.isEmpty()) {
            answer.accept(new ControlMessage.Error("cache worker %s has no address in any known ring".formatted(request.sender())));
            return;
        }
        try {
            executor.execute(() -> answer.accept(take(sender.get(), request.files())));
        }
        catch (RejectedExecutionException _) {
            answer.accept(new ControlMessage.Error("this cache worker is already receiving too many blocks"));
        }
    }

    private Message take(Peer sender, List<FileBlocks> files)
    {
        int count = 0;
        try {
            for (FileBlocks file : files) {
                count += take(sender, file);
            }
        }
        catch (WorkerException e) {
            counters.addFailedRead();
            log.warn("Cannot pull blocks from draining cache worker %s (%s); reading them from the origin instead", sender.id(), e.getMessage());
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        catch (RuntimeException e) {
            log.error(e, "Cannot pull blocks from draining cache worker %s", sender.id());
        }
        return new HandedOver(count);
    }

    private int take(Peer sender, FileBlocks file)
            throws WorkerException, InterruptedException
    {
        FileVersionId id = file.file().id();
        long blockCount = Math.ceilDiv(file.file().length(), (long) store.blockSizeBytes());
        List<Integer> named = file.blocks().stream().filter(block -> block >= 0 && block < blockCount).distinct().toList();
        List<Integer> missing = named.stream().filter(block -> !isPresent(id, block)).toList();
        for (List<Integer> some : partition(missing, Math.toIntExact(Math.max(1, BYTES_AT_ONCE / store.blockSizeBytes())))) {
            awaitWrites();
            List<Integer> left = new ArrayList<>(some);
            for (int attempt = 1; !read(sender, file.file(), id, left) && attempt < MAX_ATTEMPTS; attempt++) {
                pause(FRAME_PAUSE_NANOS);
            }
        }
        return (int) named.stream().filter(block -> isPresent(id, block)).count();
    }

    /**
     * Reads blocks from the sender.
     *
     * @param left the missing blocks; received blocks are removed
     * @return false if the store had no frames for some of the blocks that the sender has
     */
    private boolean read(Peer sender, FileVersion version, FileVersionId id, List<Integer> left)
            throws WorkerException, InterruptedException
    {
        return reader.read(sender, version, id, List.copyOf(left), block -> {
            left.remove(Integer.valueOf(block));
            counters.addTaken(version.blockLength(block, store.blockSizeBytes()));
        });
    }

    /**
     * Waits until the SSD writes have caught up. Blocks that arrive faster than they are written would stay in RAM only
     * and soon be evicted.
     */
    private void awaitWrites()
            throws InterruptedException
    {
        long start = System.nanoTime();
        while (store.isBehindWriting() && System.nanoTime() - start < WRITE_PATIENCE_NANOS) {
            pause(WRITE_PAUSE_NANOS);
        }
    }

    private static void pause(long nanos)
            throws InterruptedException
    {
        LockSupport.parkNanos(nanos);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    /**
     * Returns whether the block is present with a class above guest. Guest blocks do not count, because they are not
     * written to SSD and are evicted first.
     */
    private boolean isPresent(FileVersionId id, int block)
    {
        return store.contents().describe(id, block, 1)
                .map(description -> description.blocks().get(block))
                .filter(terms -> terms.blockClass() != BlockClass.GUEST)
                .isPresent();
    }
}
