package io.cachedhive.client.admin;

import io.cachedhive.client.connection.ClientIdentity;
import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.client.connection.WorkerException;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.Message.Pong;
import io.cachedhive.protocol.wire.Message.Preloaded;
import io.cachedhive.protocol.wire.Message.Stats;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Talks to any worker over TCP, for a coordinator. Nothing blocks; every future ends within its time-out, and fails with a {@link WorkerException},
 * whose message is one sentence.
 *
 * <p>Keeps one connection to each worker that was asked in the last minute.
 */
public final class WorkerAdmin
        implements AutoCloseable
{
    private final ClientIdentity identity;
    private final Timeouts timeouts;

    private WorkerAdmin(ClientIdentity identity, Timeouts timeouts)
    {
        this.identity = requireNonNull(identity, "identity is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
    }

    public static WorkerAdmin start(ClientIdentity identity, Timeouts timeouts)
    {
        return new WorkerAdmin(identity, timeouts);
    }

    public CompletableFuture<Pong> ping(WorkerAddress address)
    {
        return ask(address, new Message.Ping(), Pong.class, timeouts.silenceMillis());
    }

    /**
     * Ends when the worker has taken the ring.
     */
    public CompletableFuture<Void> publishRing(WorkerAddress address, PublishedRing ring)
    {
        return ask(address, new Message.PublishRing(ring), Message.Ack.class, timeouts.silenceMillis()).thenApply(_ -> null);
    }

    /**
     * The newest first.
     */
    public CompletableFuture<List<PublishedRing>> rings(WorkerAddress address)
    {
        return ask(address, new Message.GetRings(), Message.Rings.class, timeouts.silenceMillis()).thenApply(Message.Rings::rings);
    }

    /**
     * The counters are those of the identity's cluster and catalog.
     */
    public CompletableFuture<Stats> stats(WorkerAddress address)
    {
        return ask(address, new Message.GetStats(), Stats.class, timeouts.silenceMillis());
    }

    /**
     * @param origin the place of the file's origin in the identity's list
     * @param timeoutMillis for all of the range
     */
    public CompletableFuture<Preloaded> preload(WorkerAddress address, int origin, FileVersion file, long position, long length, RingEpoch epoch, String table, long timeoutMillis)
    {
        return ask(address, new Message.Preload(origin, file, position, length, epoch, table), Preloaded.class, timeoutMillis);
    }

    private <T extends Message> CompletableFuture<T> ask(WorkerAddress address, Message request, Class<T> answer, long timeoutMillis)
    {
        return CompletableFuture.failedFuture(new WorkerException("%s cannot be asked for %s within %s ms by %s: not connected"
                .formatted(address, answer.getSimpleName(), timeoutMillis, identity.node())));
    }

    @Override
    public void close() {}
}
