package io.cachedhive.hive.conformance;

import io.airlift.log.Logger;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.hive.PatientReaders;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.worker.server.SocketAccess;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.usage.UsageCounters.Account;
import io.trino.testing.DistributedQueryRunner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Verify.verify;
import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.util.stream.Collectors.joining;

/**
 * The Hive connector read through the cache, with a cache worker in this JVM. The nodes of the query runner have one address, so they are one host
 * with one worker. Its RAM tier is smaller than what a long suite reads.
 */
final class CachedHive
        implements ConnectorUnderTest
{
    private static final Logger log = Logger.get(CachedHive.class);

    private static final String NAME = "cachedhive";
    private static final long RAM_BYTES = 16 << 20;
    private static final long SSD_BYTES = 256 << 20;
    private static final int MAX_RANGE_BYTES = 8 << 20;

    private final Path directory;
    private final Path ramDirectory;
    private CacheWorkerService worker;

    CachedHive()
    {
        try {
            // a Unix socket's path has at most 107 bytes
            directory = Files.createTempDirectory(Path.of("/tmp"), "cachedhive-");
            ramDirectory = Files.createTempDirectory(StoreConfig.DEFAULT_RAM_DIRECTORY, "cachedhive-");
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String name()
    {
        return NAME;
    }

    @Override
    public void install(DistributedQueryRunner queryRunner, S3Server s3)
            throws IOException
    {
        Path origins = Files.createDirectory(directory.resolve("origins"));
        Files.writeString(origins.resolve("default.properties"), s3.clientProperties().entrySet().stream()
                .map(property -> property.getKey() + "=" + property.getValue())
                .collect(joining("\n")));
        StoreConfig store = StoreConfig.ramOnly(directory.resolve("state"))
                .withRam(ramDirectory, RAM_BYTES)
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectory(directory.resolve("ssd")), new Capacity.Bytes(SSD_BYTES))));
        worker = CacheWorkerService.open(new WorkerSettings(
                InetAddress.getLoopbackAddress(),
                0,
                directory.resolve("worker.sock"),
                SocketAccess.OWN_USER,
                Secrets.NONE,
                TlsMode.REQUIRED,
                Optional.empty(),
                store,
                origins,
                MAX_RANGE_BYTES,
                16,
                2,
                WorkerSettings.DEFAULT_PEER_SILENCE,
                "test"));
        worker.start();
        queryRunner.installPlugin(PatientReaders.plugin());
    }

    @Override
    public Map<String, String> catalogProperties()
    {
        return Map.of("cachedhive.worker.socket-path", worker.socketPath().toString());
    }

    /** Fails if the suite was not served by the cache: it would have shown nothing. */
    @Override
    public void close()
            throws IOException
    {
        try {
            if (worker != null) {
                Map<String, Long> totals = worker.usage().totals(new Account("trino", NAME));
                worker.close();
                long requested = totals.getOrDefault(CounterNames.REQUESTED_BYTES, 0L);
                // a suite that reads each of its files once, or within the two seconds in which they may still be overwritten unseen, has no hits
                long ramHit = totals.getOrDefault(CounterNames.RAM_HIT_BYTES, 0L);
                long ssdHit = totals.getOrDefault(CounterNames.SSD_HIT_BYTES, 0L);
                long nonLocalHit = totals.getOrDefault(CounterNames.NON_LOCAL_HIT_BYTES, 0L);
                long remoteRead = totals.getOrDefault(CounterNames.REMOTE_READ_BYTES, 0L);
                long served = ramHit + ssdHit + nonLocalHit + remoteRead;
                long bypass = totals.getOrDefault(CounterNames.BYPASS_BYTES, 0L);
                long faults = totals.getOrDefault(BypassCause.PROTOCOL_ERROR.counter(), 0L) + totals.getOrDefault(BypassCause.CORRUPT.counter(), 0L);
                // read by ConformanceReport
                log.info(
                        "Bytes requested: %s, RAM hit: %s, SSD hit: %s, non-local hit: %s, remote read: %s, bypass: %s",
                        requested,
                        ramHit,
                        ssdHit,
                        nonLocalHit,
                        remoteRead,
                        bypass);
                verify(served + bypass == requested, "bytes by source are not the %s bytes requested: %s", requested, totals);
                verify(served > 0, "the cache served nothing: %s", totals);
                verify(faults == 0, "%s of %s bytes went past the cache because of answers that were wrong: %s", faults, requested, totals);
                verify(bypass <= requested / 5, "%s of %s bytes went past the cache: %s", bypass, requested, totals);
            }
        }
        finally {
            deleteRecursively(directory, ALLOW_INSECURE);
            deleteRecursively(ramDirectory, ALLOW_INSECURE);
        }
    }
}
