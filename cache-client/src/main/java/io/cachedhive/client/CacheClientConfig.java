package io.cachedhive.client;

import io.cachedhive.protocol.memory.HitVerification;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * @param socketPath the Unix socket of the cache worker of this host
 * @param chunkSizeBytes the unit of ownership: the same in all clients of a cluster; a multiple of 64 KiB, best of the largest block size, 8 MiB
 * @param crossZoneReads whether owners are asked in whatever zone they are; if not, the first in the chunk's order that is in the zone of this host's worker
 * @param verification which hits are verified
 */
public record CacheClientConfig(
        Path socketPath,
        ClientIdentity identity,
        long chunkSizeBytes,
        boolean crossZoneReads,
        Verification verification,
        Limits limits,
        Timeouts timeouts)
{
    private static final int SMALLEST_BLOCK_BYTES = 64 << 10;

    public CacheClientConfig
    {
        requireNonNull(socketPath, "socketPath is null");
        requireNonNull(identity, "identity is null");
        requireNonNull(verification, "verification is null");
        requireNonNull(limits, "limits is null");
        requireNonNull(timeouts, "timeouts is null");
        if (chunkSizeBytes <= 0 || chunkSizeBytes % SMALLEST_BLOCK_BYTES != 0) {
            throw new IllegalArgumentException("chunk size is not a positive multiple of %s bytes: %s".formatted(SMALLEST_BLOCK_BYTES, chunkSizeBytes));
        }
    }

    public CacheClientConfig(Path socketPath, ClientIdentity identity, long chunkSizeBytes)
    {
        this(socketPath, identity, chunkSizeBytes, false);
    }

    public CacheClientConfig(Path socketPath, ClientIdentity identity, long chunkSizeBytes, boolean crossZoneReads)
    {
        this(socketPath, identity, chunkSizeBytes, crossZoneReads, Verification.DEFAULT, Limits.DEFAULT, Timeouts.DEFAULT);
    }

    public CacheClientConfig(Path socketPath, ClientIdentity identity, long chunkSizeBytes, Limits limits, Timeouts timeouts)
    {
        this(socketPath, identity, chunkSizeBytes, false, Verification.DEFAULT, limits, timeouts);
    }

    public CacheClientConfig withVerification(Verification verification)
    {
        return new CacheClientConfig(socketPath, identity, chunkSizeBytes, crossZoneReads, verification, limits, timeouts);
    }

    public CacheClientConfig withTimeouts(Timeouts timeouts)
    {
        return new CacheClientConfig(socketPath, identity, chunkSizeBytes, crossZoneReads, verification, limits, timeouts);
    }

    /**
     * Which hits are verified.
     *
     * @param originRatio fraction of the hits, 0 to 1, that are compared with the origin
     * @param ram the hits in shared memory whose block is compared with its checksum
     */
    public record Verification(double originRatio, HitVerification ram)
    {
        public static final Verification DEFAULT = new Verification(0, HitVerification.ofThisMachine());

        public Verification
        {
            if (!(originRatio >= 0 && originRatio <= 1)) {
                throw new IllegalArgumentException("fraction of hits to verify is not from 0 to 1: " + originRatio);
            }
            requireNonNull(ram, "ram is null");
        }
    }

    /**
     * What the client may hold at once; whatever does not fit is read from the origin.
     *
     * @param heapBytes blocks on their way from the origin to a worker, and bytes that streams read ahead, which leave half of it
     * @param requestsPerWorker requests without an answer
     * @param requestBytes asked for in one request; a longer read makes several
     * @param ioThreads threads that talk to workers
     */
    public record Limits(long heapBytes, int requestsPerWorker, int requestBytes, int ioThreads)
    {
        public static final Limits DEFAULT = new Limits(64L << 20, 4096, 8 << 20, 2);

        public Limits
        {
            if (heapBytes < 0 || requestsPerWorker < 1 || requestBytes < 1 || ioThreads < 1) {
                throw new IllegalArgumentException("limits are not positive: heapBytes %s, requestsPerWorker %s, requestBytes %s, ioThreads %s"
                        .formatted(heapBytes, requestsPerWorker, requestBytes, ioThreads));
            }
        }
    }
}
