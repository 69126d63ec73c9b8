package io.cachedhive.attack.setting;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerConnections;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static com.google.common.base.Throwables.throwIfInstanceOf;

/**
 * The client that the plugin uses. Its time-outs are long, so that a busy machine does not look like a refusal.
 */
public final class ProductClient
        implements Client
{
    private static final long SILENCE_MILLIS = 15_000;
    private static final Timeouts TIMEOUTS = new Timeouts(SILENCE_MILLIS, SILENCE_MILLIS, 1, 1000);

    private final WorkerConnections connections;

    /**
     * @param secret proven to cache workers and required of them
     */
    public ProductClient(String secret)
    {
        ClientIdentity identity = new ClientIdentity("attack", "attack", "legitimate", Sample.ORIGINS, Secrets.of(secret));
        connections = new WorkerConnections("attack-client", identity, Optional.empty(), TIMEOUTS, 1, 16, System::nanoTime);
    }

    @Override
    public byte[] read(WorkerAddress address, Optional<CacheWorkerId> worker, Sample sample)
            throws IOException, InterruptedException
    {
        CompletableFuture<CachedBlock> block = connections.askBlock(
                connections.peer(address, worker),
                0,
                sample.file(),
                0,
                new RingEpoch(1),
                Sample.TABLE,
                SILENCE_MILLIS);
        try {
            return block.get(2 * SILENCE_MILLIS, TimeUnit.MILLISECONDS).bytes();
        }
        catch (ExecutionException e) {
            throwIfInstanceOf(e.getCause(), IOException.class);
            throw new IOException(e.getCause());
        }
        catch (TimeoutException _) {
            throw new IOException("no answer within %s ms".formatted(2 * SILENCE_MILLIS));
        }
    }

    @Override
    public void close()
    {
        connections.close();
    }
}
