package io.cachedhive.worker.handover;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.worker.fetch.FetchTarget;
import io.cachedhive.worker.fetch.PeerSource;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Receives blocks from the workers that owned them before a change of the ring. If an owner does not answer or answers
 * incorrectly, the remaining blocks come from the origin. If an owner lacks a block, the owner before it is asked.
 */
public final class FormerOwnerSource
        implements PeerSource
{
    private static final Logger log = Logger.get(FormerOwnerSource.class);

    private static final int MAX_READS = 16;
    private static final long PATIENCE_MILLIS = 100;
    private static final int MAX_CHANGED_VERSIONS = 10_000;

    private final FormerOwners formerOwners;
    private final PeerReader reader;
    private final HandOverCounters counters;
    private final int blockSizeBytes;
    private final Semaphore reads = new Semaphore(MAX_READS);
    // remembered for as long as former owners are asked, because they may have blocks of these versions
    private final Cache<FileVersionId, Boolean> changedVersions = Caffeine.newBuilder()
            .maximumSize(MAX_CHANGED_VERSIONS)
            .expireAfterWrite(FormerOwners.ASKED_FOR)
            .build();

    FormerOwnerSource(FormerOwners formerOwners, PeerReader reader, HandOverCounters counters, int blockSizeBytes)
    {
        this.formerOwners = requireNonNull(formerOwners, "formerOwners is null");
        this.reader = requireNonNull(reader, "reader is null");
        this.counters = requireNonNull(counters, "counters is null");
        this.blockSizeBytes = blockSizeBytes;
    }

    @Override
    public void take(FetchTarget target, List<Integer> blocks, IntConsumer taken)
    {
        if (target.chunkSizeBytes() <= 0 || changedVersions.getIfPresent(target.id()) != null) {
            return;
        }
        List<PublishedRing> replaced = formerOwners.replacedRings();
        if (replaced.isEmpty()) {
            return;
        }
        try {
            if (!reads.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
            try {
                byChunk(target, blocks).forEach((chunk, inChunk) -> takeChunk(target, inChunk, formerOwners.of(chunk, replaced), taken));
            }
            finally {
                reads.release();
            }
        }
        catch (InterruptedException _) {
            // the worker is stopping; the request to the origin will fail as well
            Thread.currentThread().interrupt();
        }
    }

    private Map<ChunkKey, List<Integer>> byChunk(FetchTarget target, List<Integer> blocks)
    {
        long locationHash = ChunkKey.locationHash(target.version().origin(), target.version().location());
        Map<Long, List<Integer>> byIndex = new TreeMap<>();
        blocks.forEach(block -> byIndex.computeIfAbsent((long) block * blockSizeBytes / target.chunkSizeBytes(), _ -> new ArrayList<>()).add(block));
        Map<ChunkKey, List<Integer>> byChunk = new LinkedHashMap<>();
        byIndex.forEach((index, inChunk) -> byChunk.put(new ChunkKey(locationHash, index), inChunk));
        return byChunk;
    }

    private void takeChunk(FetchTarget target, List<Integer> blocks, List<Peer> owners, IntConsumer taken)
    {
        List<Integer> left = new ArrayList<>(blocks);
        for (Peer owner : owners) {
            if (left.isEmpty() || Thread.currentThread().isInterrupted()) {
                return;
            }
            try {
                reader.read(owner, target.version(), target.id(), List.copyOf(left), block -> {
                    left.remove(Integer.valueOf(block));
                    counters.addTaken(target.version().blockLength(block, blockSizeBytes));
                    taken.accept(block);
                });
            }
            catch (WorkerException e) {
                counters.addFailedRead();
                log.debug("Cannot read blocks of %s from %s: %s", target.version().location(), owner, e.getMessage());
                return;
            }
            catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return;
            }
            catch (RuntimeException e) {
                // an error here must not fail a read that the origin can serve
                counters.addFailedRead();
                log.error(e, "Cannot read blocks of %s from %s", target.version().location(), owner);
                return;
            }
        }
    }

    @Override
    public void versionChanged(FileVersionId id)
    {
        changedVersions.put(id, true);
    }
}
