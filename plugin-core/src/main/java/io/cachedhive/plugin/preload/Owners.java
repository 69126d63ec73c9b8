package io.cachedhive.plugin.preload;

import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.transport.CachedBlock;

import java.util.concurrent.CompletableFuture;

/**
 * The cache workers, as far as a preload asks them. Answers fail with a {@link io.cachedhive.transport.WorkerException}.
 */
public interface Owners
{
    /**
     * For one range: a hundred kilobytes a second, at the least.
     */
    long TIMEOUT_MILLIS = 60_000;

    CompletableFuture<Preloaded> preload(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, long length, RingEpoch epoch);

    /**
     * The block that has the position, if the worker has it.
     */
    CompletableFuture<CachedBlock> readBlock(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, RingEpoch epoch);

    /**
     * @param table whose files they are
     */
    static Owners of(WorkerAdmin workerAdmin, String table)
    {
        return new Owners()
        {
            @Override
            public CompletableFuture<Preloaded> preload(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, long length, RingEpoch epoch)
            {
                return workerAdmin.preload(owner, origin.index(), file, position, length, epoch, table, TIMEOUT_MILLIS);
            }

            @Override
            public CompletableFuture<CachedBlock> readBlock(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, RingEpoch epoch)
            {
                return workerAdmin.readBlock(owner, origin.index(), file, position, epoch, table, TIMEOUT_MILLIS);
            }
        };
    }
}
