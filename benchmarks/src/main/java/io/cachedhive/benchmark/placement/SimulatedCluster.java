package io.cachedhive.benchmark.placement;

import com.google.common.net.HostAndPort;
import io.cachedhive.plugin.membership.Places;
import io.cachedhive.plugin.membership.RingView;
import io.cachedhive.plugin.membership.TrinoNodes;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.Pong;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Hosts with Trino workers and cache workers, and the coordinator that looks after them once a second, on a clock of its own.
 */
final class SimulatedCluster
{
    static final long GRACE_MILLIS = 300_000;
    static final double MIN_LIVE_SHARE = 0.8;

    private static final int WORKER_PORT = 8484;
    private static final int TRINO_PORT = 8080;
    private static final long WEIGHT = 400_000_000_000L;
    private static final long WALL_MILLIS = 1_700_000_000_000L;
    private static final long PING_INTERVAL_MILLIS = 1_000;

    private final SplittableRandom random;
    private final Places places = new Places(WORKER_PORT, GRACE_MILLIS, MIN_LIVE_SHARE, Long.MAX_VALUE);
    private final List<Host> hosts = new ArrayList<>();
    private int hostCount;
    private long nowMillis = 1_000;

    static final class Host
    {
        private final CacheWorkerId worker;
        private String name;
        private boolean trinoActive = true;
        private boolean cacheAnswers;

        private Host(CacheWorkerId worker, String name, boolean cacheAnswers)
        {
            this.worker = worker;
            this.name = name;
            this.cacheAnswers = cacheAnswers;
        }

        CacheWorkerId worker()
        {
            return worker;
        }

        HostAndPort node()
        {
            return HostAndPort.fromParts(name, TRINO_PORT);
        }

        boolean cacheAnswers()
        {
            return cacheAnswers;
        }

        void setCacheAnswers(boolean cacheAnswers)
        {
            this.cacheAnswers = cacheAnswers;
        }

        void setTrinoActive(boolean trinoActive)
        {
            this.trinoActive = trinoActive;
        }
    }

    SimulatedCluster(SplittableRandom random, int hosts, int cacheWorkers)
    {
        this.random = random;
        for (int i = 0; i < hosts; i++) {
            add(i < cacheWorkers);
        }
    }

    Host add(boolean cacheWorker)
    {
        Host host = new Host(new CacheWorkerId("worker-%016x".formatted(random.nextLong())), nextName(), cacheWorker);
        hosts.add(host);
        return host;
    }

    void remove(Host host)
    {
        hosts.remove(host);
    }

    /**
     * As pods are: the store with its id comes back on another address.
     */
    void moveAll()
    {
        hosts.forEach(host -> host.name = nextName());
    }

    private String nextName()
    {
        return "host-" + hostCount++;
    }

    List<Host> hosts()
    {
        return hosts;
    }

    long nowMillis()
    {
        return nowMillis;
    }

    /**
     * A second passes.
     */
    void tick()
    {
        nowMillis += PING_INTERVAL_MILLIS;
        Map<String, List<HostAndPort>> nodes = new HashMap<>();
        Map<WorkerAddress, Host> answering = new HashMap<>();
        for (Host host : hosts) {
            if (host.trinoActive) {
                nodes.put(host.name, List.of(host.node()));
            }
            if (host.cacheAnswers) {
                answering.put(new WorkerAddress(host.name, WORKER_PORT), host);
            }
        }
        places.nodes(new TrinoNodes(nodes), nowMillis);
        // who is gone first: a worker that moved is not in two places
        places.addresses().stream()
                .filter(address -> !answering.containsKey(address))
                .forEach(address -> places.failed(address, "no answer"));
        places.addresses().stream()
                .filter(answering::containsKey)
                .forEach(address -> places.answered(address, pong(answering.get(address)), nowMillis));
        places.advance(nowMillis, WALL_MILLIS + nowMillis);
    }

    void pass(long millis)
    {
        for (long end = nowMillis + millis; nowMillis < end; ) {
            tick();
        }
    }

    private static Pong pong(Host host)
    {
        return new Pong(host.worker, new Digest128(1, 2), "simulated", "RUNNING", WEIGHT, Optional.empty(), 0, 0, new RingEpoch(0), 0);
    }

    PublishedRing ring()
    {
        return places.ring().orElseThrow(() -> new IllegalStateException("the simulated cluster has no ring at " + nowMillis));
    }

    RingView view()
    {
        return places.view();
    }
}
