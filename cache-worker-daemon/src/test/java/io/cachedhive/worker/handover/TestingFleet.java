package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.HandshakeMessage.ChunkSize;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.worker.testing.FakePeer;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cache workers in this process, and who would be their coordinator and their clients.
 */
final class TestingFleet
        implements AutoCloseable
{
    static final int CHUNK_BLOCKS = 2;
    static final long CHUNK_SIZE = CHUNK_BLOCKS * BLOCK_SIZE;

    private final Path directory;
    private final Lake lake;
    private final Map<String, TestingWorker> workers = new LinkedHashMap<>();
    private final Map<String, WireClient> clients = new HashMap<>();
    private final Map<String, FakePeer> fakes = new HashMap<>();
    private final Map<String, Optional<String>> zones = new HashMap<>();
    private long publishedMillis = System.currentTimeMillis() - 10_000;
    private PublishedRing ring;
    private long ramBytes = 32 << 20;
    private long ssdBytes;
    private Optional<Duration> peerSilence = Optional.empty();
    private Optional<String> allowedLocations = Optional.empty();

    TestingFleet(Path directory, Lake lake)
    {
        this.directory = directory;
        this.lake = lake;
    }

    /**
     * How a block came, or why not.
     */
    record Answer(Optional<Source> source, Optional<NoCause> no) {}

    /**
     * Of workers that are started afterwards.
     */
    void withRam(long bytes)
    {
        ramBytes = bytes;
    }

    /**
     * Of workers that are started afterwards.
     */
    void withSsd(long bytes)
    {
        ssdBytes = bytes;
    }

    /**
     * Workers that are started afterwards wait for others for the time.
     */
    void withPeerSilence(Duration silence)
    {
        peerSilence = Optional.of(silence);
    }

    /**
     * Workers that are started afterwards may read only these locations.
     */
    void withAllowedLocations(String locations)
    {
        allowedLocations = Optional.of(locations);
    }

    TestingWorker start(String name)
    {
        return start(name, Optional.empty());
    }

    TestingWorker start(String name, Optional<String> zone)
    {
        zones.put(name, zone);
        Map<String, String> origin = new HashMap<>(lake.s3().clientProperties());
        allowedLocations.ifPresent(locations -> origin.put("allowed-locations", locations));
        TestingWorker worker = new TestingWorker(directory.resolve(name))
                .withOrigin("default", origin)
                .withRam(ramBytes)
                .withSsd(ssdBytes)
                .withZone(zone);
        peerSilence.ifPresent(worker::withPeerSilence);
        worker.start();
        workers.put(name, worker);
        WireClient client = worker.connect();
        client.send(new ChunkSize(CHUNK_SIZE));
        clients.put(name, client);
        return worker;
    }

    void add(String name, FakePeer fake)
    {
        fakes.put(name, fake);
    }

    TestingWorker worker(String name)
    {
        return workers.get(name);
    }

    void stop(String name)
    {
        clients.remove(name).close();
        workers.remove(name).close();
    }

    CacheWorkerId id(String name)
    {
        return fakes.containsKey(name) ? fakes.get(name).id() : workers.get(name).service().store().workerId();
    }

    private WorkerAddress address(String name)
    {
        if (fakes.containsKey(name)) {
            return fakes.get(name).address();
        }
        InetSocketAddress address = workers.get(name).tcpAddress();
        return new WorkerAddress(address.getAddress().getHostAddress(), address.getPort());
    }

    /**
     * To all workers, as a coordinator does a moment later.
     */
    void publish(String... members)
    {
        publishedMillis += 10;
        Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
        List<RingMember> ringMembers = new ArrayList<>();
        for (String member : members) {
            addresses.put(id(member), address(member));
            ringMembers.add(new RingMember(id(member), 100, zones.getOrDefault(member, Optional.empty())));
        }
        ring = new PublishedRing(HashRing.of(ringMembers), addresses, publishedMillis);
        workers.values().forEach(worker -> worker.service().rings().publish(ring));
    }

    String owner(StoredFile file, int block)
    {
        long hash = ChunkKey.locationHash(file.file().origin(), file.file().location());
        CacheWorkerId owner = ring.ring().owner(ChunkKey.at(hash, (long) block * BLOCK_SIZE, CHUNK_SIZE)).orElseThrow();
        return workers.keySet().stream().filter(name -> id(name).equals(owner)).findFirst().orElseThrow();
    }

    List<Integer> ownedBy(String name, StoredFile file)
    {
        List<Integer> blocks = new ArrayList<>();
        for (int block = 0; block < file.file().blockCount(BLOCK_SIZE); block++) {
            if (owner(file, block).equals(name)) {
                blocks.add(block);
            }
        }
        return blocks;
    }

    /**
     * Every block from its owner, one after the other, with the right bytes.
     */
    Map<Source, Integer> scan(StoredFile file)
    {
        Map<Source, Integer> sources = new HashMap<>();
        for (int block = 0; block < file.file().blockCount(BLOCK_SIZE); block++) {
            sources.merge(read(owner(file, block), file, block).source().orElseThrow(), 1, Integer::sum);
        }
        return sources;
    }

    Answer read(String worker, StoredFile file, int block)
    {
        return read(clients.get(worker), file, block, 1).get(block);
    }

    Map<Integer, Answer> read(String worker, StoredFile file, int firstBlock, int blockCount)
    {
        return read(clients.get(worker), file, firstBlock, blockCount);
    }

    /**
     * What is answered is the file's.
     */
    static Map<Integer, Answer> read(WireClient client, StoredFile file, int firstBlock, int blockCount)
    {
        long request = client.send(new Read(0, file.file(), Range.ofBlocks(firstBlock, blockCount), true, true, false, new RingEpoch(1), "schema.table"));
        Map<Integer, Answer> answers = new HashMap<>();
        while (answers.size() < blockCount) {
            switch (client.await(request)) {
                case Fetching _ -> {}
                case BlockBytes bytes -> {
                    assertThat(WireClient.bytes(bytes)).as("block %s of %s", bytes.block(), file.file()).isEqualTo(file.block(bytes.block()));
                    answers.put(bytes.block(), new Answer(Optional.of(bytes.source()), Optional.empty()));
                }
                case BlockNo no -> answers.put(no.block(), new Answer(Optional.empty(), Optional.of(no.cause())));
                case Message other -> throw new AssertionError("unexpected answer: " + other);
            }
        }
        return answers;
    }

    @Override
    public void close()
    {
        clients.values().forEach(WireClient::close);
        workers.values().forEach(TestingWorker::close);
        fakes.values().forEach(FakePeer::close);
    }
}
