package io.cachedhive.worker.testing;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.worker.origin.OriginFile;
import io.cachedhive.worker.server.BlockServer;
import io.cachedhive.worker.server.SocketAccess;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.service.WorkerSettings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A cache worker in this process, with everything in one directory. May be stopped and started again.
 */
public final class TestingWorker
        implements AutoCloseable
{
    public static final String SECRET = "the shared secret of all workers in a test";
    public static final Secrets SECRETS = Secrets.of(SECRET);
    public static final int BLOCK_SIZE = 64 << 10;

    // a machine that is busy is no slow disk, and no peer that stalls
    private static final StoreClock NO_DISK_IS_SLOW = new StoreClock()
    {
        @Override
        public long currentTimeMillis()
        {
            return System.currentTimeMillis();
        }

        @Override
        public long nanoTime()
        {
            return System.nanoTime();
        }

        @Override
        public long stopwatchNanos()
        {
            return 0;
        }
    };
    private static final BlockServer.Limits PATIENT = new BlockServer.Limits(Duration.ofHours(1), 64, Duration.ofHours(1), 64 << 20, 1 << 20, 1 << 20);

    private final Path directory;
    private final Path ramDirectory;
    private final Map<String, OriginId> origins = new HashMap<>();
    private long ramBytes = 16 << 20;
    private long ssdBytes;
    private double guestMaxShare = StoreConfig.DEFAULT_GUEST_MAX_SHARE;
    private int maxRangeBytes = 8 * BLOCK_SIZE;
    private int maxRequestsPerBucket = 16;
    // another worker of this process is late, and not away
    private Duration peerSilence = Duration.ofSeconds(20);
    private Optional<Certificates> certificates = Optional.empty();
    private Optional<String> zone = Optional.empty();
    private Optional<KeySource> encryptionKey = Optional.empty();
    private Optional<CacheWorkerService> service = Optional.empty();

    public TestingWorker(Path directory)
    {
        this.directory = directory;
        try {
            Files.createDirectories(directory.resolve("origins"));
            this.ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public TestingWorker withRam(long bytes)
    {
        ramBytes = bytes;
        return this;
    }

    public TestingWorker withSsd(long bytes)
    {
        ssdBytes = bytes;
        return this;
    }

    public TestingWorker withGuestMaxShare(double share)
    {
        guestMaxShare = share;
        return this;
    }

    public TestingWorker withMaxRange(int bytes)
    {
        maxRangeBytes = bytes;
        return this;
    }

    public TestingWorker withMaxRequestsPerBucket(int requests)
    {
        maxRequestsPerBucket = requests;
        return this;
    }

    public TestingWorker withPeerSilence(Duration silence)
    {
        peerSilence = silence;
        return this;
    }

    public TestingWorker withZone(Optional<String> zone)
    {
        this.zone = zone;
        return this;
    }

    public TestingWorker withEncryptionKey(Optional<KeySource> key)
    {
        this.encryptionKey = key;
        return this;
    }

    public TestingWorker withCertificates(Certificates certificates)
    {
        this.certificates = Optional.of(certificates);
        return this;
    }

    /**
     * Writes the file of an origin, taken at the next start.
     */
    public TestingWorker withOrigin(String name, Map<String, String> properties)
    {
        StringBuilder text = new StringBuilder();
        properties.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
        Path file = directory.resolve("origins").resolve(name + ".properties");
        try {
            Files.writeString(file, text);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        origins.put(name, OriginFile.read(file).id());
        return this;
    }

    public TestingWorker start()
    {
        StoreConfig store = StoreConfig.ramOnly(directory.resolve("state"))
                .withRam(ramDirectory, ramBytes)
                .withGuestMaxShare(guestMaxShare)
                .withBlockSize(BLOCK_SIZE)
                .withEncryptionKey(encryptionKey);
        if (ssdBytes > 0) {
            Path ssd = directory.resolve("ssd");
            try {
                Files.createDirectories(ssd);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            store = store.withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new SsdDirectoryConfig.Capacity.Bytes(ssdBytes))));
        }
        WorkerSettings settings = new WorkerSettings(
                InetAddress.getLoopbackAddress(),
                0,
                directory.resolve("w.sock"),
                SocketAccess.OWN_USER,
                SECRETS,
                TlsMode.REQUIRED,
                zone,
                store,
                directory.resolve("origins"),
                maxRangeBytes,
                maxRequestsPerBucket,
                2,
                peerSilence,
                "test").withCertificates(certificates);
        CacheWorkerService worker = CacheWorkerService.open(settings, StoreEnvironment.system().withClock(NO_DISK_IS_SLOW), PATIENT);
        worker.start();
        service = Optional.of(worker);
        return this;
    }

    public CacheWorkerService service()
    {
        return service.orElseThrow();
    }

    public InetSocketAddress tcpAddress()
    {
        return service().tcpAddress().orElseThrow();
    }

    public Path socketPath()
    {
        return directory.resolve("w.sock");
    }

    public long gauge(String name)
    {
        return service().status().gauges().get(name);
    }

    public OriginId originId(String name)
    {
        return origins.get(name);
    }

    public List<NamedOrigin> origins()
    {
        return origins.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(origin -> new NamedOrigin(origin.getKey(), origin.getValue()))
                .toList();
    }

    /**
     * Over the Unix socket, as catalog {@code lake} and with the role of the cluster.
     */
    public WireClient connect()
    {
        return connect("lake", origins());
    }

    public WireClient connect(String catalog, List<NamedOrigin> named)
    {
        try {
            return WireClient.connect(UnixDomainSocketAddress.of(socketPath()), Optional.of(SECRET), catalog, named);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Over the Unix socket, as catalog {@code lake} and without the secret.
     */
    public WireClient connectReader()
            throws IOException
    {
        return WireClient.connect(UnixDomainSocketAddress.of(socketPath()), Optional.empty(), "lake", origins());
    }

    public WireClient connectTcp()
            throws IOException
    {
        return WireClient.connect(tcpAddress(), Optional.of(SECRET), "lake", origins());
    }

    public void stop()
    {
        service.ifPresent(CacheWorkerService::close);
        service = Optional.empty();
    }

    @Override
    public void close()
    {
        stop();
        try {
            Files.deleteIfExists(ramDirectory);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
