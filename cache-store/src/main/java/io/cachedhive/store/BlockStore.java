package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The blocks of one host: a RAM tier in shared memory and an SSD tier below it. Safe for use by any number of threads.
 */
public final class BlockStore
        implements AutoCloseable
{
    private BlockStore() {}

    /**
     * Restores what the last run left on SSD, gives back the memory that it left in RAM, and allocates this run's.
     *
     * @throws StoreException if the configuration cannot be had on this machine, or another worker uses the same directory
     */
    public static BlockStore open(StoreConfig config, StoreEnvironment environment)
            throws StoreException
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public CacheWorkerId workerId()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Names this run.
     */
    public Digest128 instance()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public int blockSizeBytes()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * The shared-memory file, absolute.
     */
    public Path memoryFile()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * What is known of a file version; empty if it was never bound, was dropped, or lost its last block long ago.
     */
    public Optional<FileMetadata> file(FileVersionId id)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Binds a file version to the ETag that the first answer of the origin carried. Persisted with the first block on SSD.
     *
     * @return whether the file version is bound to this ETag now: false if somebody else bound it to another, so that it has to be dropped
     */
    public boolean bind(FileVersion version, Optional<String> etag, boolean provisional, String table)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * The file version is no longer provisional. Nothing happens if it is not bound.
     */
    public void confirm(FileVersionId id)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Forgets a file version and its blocks in both tiers, and the fills of it that have begun; durable when it returns.
     */
    public void dropFile(FileVersionId id)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * The block, if it is in RAM now. Counts as a use of it.
     */
    public Optional<PinnedBlock> pin(BlockKey key)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public boolean isOnSsd(BlockKey key)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * The block from RAM, or from SSD into a frame, verified. Blocks on I/O (outside of Java: give it a platform thread); calls for the
     * same block share one read.
     *
     * @return empty if the block is in neither tier, or did not verify (then it was dropped and counted), or no frame could be had
     */
    public Optional<PinnedBlock> load(BlockKey key)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * A frame to write a block into. The file has to be bound before.
     *
     * @param length bytes of the block, as {@link FileVersion#blockLength} tells them
     * @param etagDigest of the answer that the bytes come from
     * @return empty if no frame can be had now, or the file is not bound to this ETag; never waits
     */
    public Optional<Fill> beginFill(BlockKey key, int length, long etagDigest)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * A client read the block from shared memory.
     */
    public void touch(long digestHigh, long digestLow)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Shows the rings to the clients on this host.
     *
     * @param newestFirst those beyond the sixteenth are left out
     */
    public void publishRings(List<PublishedRing> newestFirst)
    {
        throw new UnsupportedOperationException("not built yet");
    }

    public StoreGauges gauges()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * One sentence with its remedy while a part of the store is out of service; empty when it is well.
     */
    public Optional<String> problem()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * What was found when the store was opened.
     */
    public List<RecoveryOutcome> recovery()
    {
        throw new UnsupportedOperationException("not built yet");
    }

    /**
     * Writes what is queued and a checkpoint, gives the RAM back and removes the shared-memory file. Pinned blocks and fills must not be used afterwards.
     */
    @Override
    public void close()
    {
        throw new UnsupportedOperationException("not built yet");
    }
}
