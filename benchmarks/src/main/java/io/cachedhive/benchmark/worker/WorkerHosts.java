package io.cachedhive.benchmark.worker;

import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.CachedFile;
import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.SharedSecrets;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static java.util.Comparator.comparingLong;

/**
 * One or two hosts with a cache worker each, as processes of their own, over a real S3 server, and a client on the first host: all chunks of
 * one file are owned by the last host's worker, which holds all of the file in RAM.
 */
final class WorkerHosts
        implements AutoCloseable
{
    private static final String BUCKET = "benchmark";
    private static final String KEY = "file";
    private static final long CHUNK_BYTES = 8 << 20;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final List<AutoCloseable> resources = new ArrayList<>();
    private final Path directory;
    private final Path memory;
    private final int count;
    private final int fileBytes;
    private final List<ReadObserver> observers = new CopyOnWriteArrayList<>();
    private CacheClient client;
    private FileVersion version;
    private HashRing ring;

    private WorkerHosts(Path directory, Path memory, int count, int fileBytes)
    {
        this.directory = directory;
        this.memory = memory;
        this.count = count;
        this.fileBytes = fileBytes;
    }

    static WorkerHosts start(int count, int fileBytes)
            throws Exception
    {
        WorkerHosts hosts = new WorkerHosts(
                Files.createTempDirectory("cachedhive-benchmark"),
                MemoryDirectory.create(),
                count,
                fileBytes);
        try {
            hosts.start();
            return hosts;
        }
        catch (Throwable e) {
            hosts.close();
            throw e;
        }
    }

    private void start()
            throws Exception
    {
        S3Server s3 = S3Server.builder().directory(directory.resolve("s3")).bucket(BUCKET).start();
        resources.add(s3);
        byte[] bytes = new byte[fileBytes];
        new Random(483).nextBytes(bytes);
        try (S3Client client = s3.client()) {
            client.putObject(request -> request.bucket(BUCKET).key(KEY), RequestBody.fromBytes(bytes));
        }
        // too old to be overwritten unseen
        Instant modified = Instant.now().minusSeconds(3600).truncatedTo(ChronoUnit.SECONDS);
        s3.setLastModified(BUCKET, KEY, modified);

        String sharedSecret = SharedSecrets.generate();
        List<CacheWorkerHome> homes = new ArrayList<>();
        List<ClusterNode> workers = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            CacheWorkerHome home = CacheWorkerHome.builder(Distribution.find(), Files.createDirectories(directory.resolve("worker-" + number)))
                    .address("127.0.0." + (number + 2))
                    .workerPort(FreePorts.next())
                    .httpPort(FreePorts.next())
                    .sharedSecret(sharedSecret)
                    .ramDirectory(Files.createDirectories(memory.resolve("worker-" + number)))
                    .ramMaxSize(fileBytes / (1 << 20) * 2 + 32 + "MB")
                    // what was read from the other host is to be read from there again
                    .config("cache.guest-max-share", "0")
                    .origin("default", s3.clientProperties())
                    .assemble();
            ClusterNode worker = ClusterNode.of("worker-" + number, home);
            worker.start();
            resources.addFirst(worker::stop);
            homes.add(home);
            workers.add(worker);
        }
        workers.forEach(ClusterNode::awaitReady);

        OriginId origin = OriginId.of("s3", Optional.of(s3.endpoint().toString()), Optional.of(S3Service.REGION), IsolationDomain.ofS3(s3.clientProperties()));
        ClientIdentity identity = new ClientIdentity("benchmark", "benchmark", "benchmark", List.of(new NamedOrigin("default", origin)), Secrets.of(sharedSecret));
        ring = publishRing(identity, homes);
        client = CacheClient.start(new CacheClientConfig(homes.getFirst().socketPath(), identity, CHUNK_BYTES));
        resources.addFirst(client);
        await("the client's connection", () -> client.local().connected() && client.newestRing().isPresent());
        version = new FileVersion(origin, "s3://%s/%s".formatted(BUCKET, KEY), fileBytes, modified.toEpochMilli());
        CachedFile file = open();
        ReadObserver observer = observers.removeFirst();
        // in pieces: what is asked for at once is bounded
        byte[] target = new byte[1 << 20];
        ReadSource wanted = count == 1 ? ReadSource.RAM_HIT : ReadSource.NON_LOCAL_HIT;
        await("a pass without misses", () -> {
            long before = observer.bytes(wanted);
            for (int position = 0; position < fileBytes; position += target.length) {
                file.readFully(position, target, 0, target.length);
            }
            return observer.bytes(wanted) - before == fileBytes;
        });
    }

    private static HashRing publishRing(ClientIdentity identity, List<CacheWorkerHome> homes)
            throws Exception
    {
        try (WorkerAdmin admin = WorkerAdmin.start(identity, Optional.empty(), Timeouts.DEFAULT)) {
            List<WorkerAddress> addresses = homes.stream().map(home -> new WorkerAddress(home.address(), home.workerPort())).toList();
            CacheWorkerId owner = admin.ping(addresses.getLast()).get().worker();
            HashRing ring = HashRing.of(List.of(new RingMember(owner, 1, Optional.empty())));
            for (WorkerAddress address : addresses) {
                admin.publishRing(address, new PublishedRing(ring, Map.of(owner, addresses.getLast()), System.currentTimeMillis())).get();
            }
            return ring;
        }
    }

    private interface Condition
    {
        boolean holds()
                throws IOException;
    }

    private static void await(String what, Condition condition)
            throws IOException
    {
        long start = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new IllegalStateException("not within a minute: " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    /**
     * Opens the file, as each split does.
     */
    CachedFile open()
            throws IOException
    {
        ReadObserver observer = new ReadObserver();
        observers.add(observer);
        return client.open(0, version, new ReadScope("schema.table", Optional.of(ring.epoch()), true, observer), NoOrigin.INSTANCE);
    }

    /**
     * The file with the RAM tier of the owner's cache worker.
     */
    Path ownerMemory()
            throws IOException
    {
        try (Stream<Path> files = Files.walk(memory.resolve("worker-" + (count - 1)))) {
            return files.filter(Files::isRegularFile)
                    .max(comparingLong(file -> file.toFile().length()))
                    .orElseThrow(() -> new IllegalStateException("no file of a RAM tier below " + memory));
        }
    }

    /**
     * Bytes that were not served as the benchmark says, of all opened files.
     */
    long otherBytes(ReadSource wanted)
    {
        return observers.stream().mapToLong(observer -> observer.totalBytes() - observer.bytes(wanted)).sum();
    }

    @Override
    public void close()
            throws Exception
    {
        for (AutoCloseable resource : resources) {
            resource.close();
        }
        for (Path root : List.of(directory, memory)) {
            try (Stream<Path> paths = Files.walk(root)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /**
     * A benchmark that reads past the cache measures nothing.
     */
    private enum NoOrigin
            implements OriginInput
    {
        INSTANCE;

        @Override
        public void readFully(long position, byte[] buffer, int offset, int length)
                throws IOException
        {
            throw new IOException("the cache did not serve %s bytes at %s".formatted(length, position));
        }

        @Override
        public int readTail(byte[] buffer, int offset, int maxLength)
                throws IOException
        {
            throw new IOException("the cache did not serve the last %s bytes".formatted(maxLength));
        }

        @Override
        public FileState current()
                throws IOException
        {
            throw new IOException("the cache asks for the file's state");
        }
    }
}
