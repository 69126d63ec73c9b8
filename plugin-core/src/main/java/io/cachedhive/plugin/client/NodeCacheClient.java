package io.cachedhive.plugin.client;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.counters.ClientCounters;
import jakarta.annotation.PreDestroy;

import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * The catalog's client of the cache on this Trino node. Started when a read first needs it, so that a node that reads nothing,
 * like a coordinator that is no worker, looks for no cache worker.
 */
public final class NodeCacheClient
{
    private final CacheClientConfig config;
    private final Consumer<String> localProblems;
    private volatile CacheClient client;
    private boolean closed;

    public NodeCacheClient(CacheClientConfig config)
    {
        this(config, _ -> {});
    }

    /**
     * @param localProblems receives every few seconds why the client cannot connect to the cache worker of this host, in one sentence with its fix
     */
    public NodeCacheClient(CacheClientConfig config, Consumer<String> localProblems)
    {
        this.config = requireNonNull(config, "config is null");
        this.localProblems = requireNonNull(localProblems, "localProblems is null");
    }

    /**
     * @throws IllegalStateException after the catalog was shut down
     */
    public CacheClient get()
    {
        CacheClient client = this.client;
        return client != null ? client : start();
    }

    private synchronized CacheClient start()
    {
        if (closed) {
            throw new IllegalStateException("the catalog is shut down");
        }
        if (client == null) {
            client = CacheClient.start(config, localProblems);
        }
        return client;
    }

    public Optional<CacheClient> ifStarted()
    {
        return Optional.ofNullable(client);
    }

    /**
     * The node's totals, by names of {@link io.cachedhive.protocol.wire.CounterNames}.
     */
    public Map<String, Long> totals()
    {
        return ifStarted().map(CacheClient::counters).orElseGet(ClientCounters::new).totals();
    }

    @PreDestroy
    public synchronized void close()
    {
        closed = true;
        if (client != null) {
            client.close();
        }
    }
}
