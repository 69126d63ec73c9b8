package io.cachedhive.attack.setting;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.SharedSecrets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Two cache workers on this machine, with the packaged configuration and a secret of their own: one to attack, and one
 * that starts when an attack needs it.
 */
public final class OwnWorkers
        implements AutoCloseable
{
    private final Distribution distribution;
    private final Path directory;
    private final Path memory;
    private final String secret = SharedSecrets.generate();
    private final OwnWorker first;
    private final Thread atExit = Thread.ofPlatform().unstarted(this::endQuietly);
    private volatile Optional<OwnWorker> second = Optional.empty();

    /**
     * A cache worker of this program.
     */
    public record OwnWorker(ClusterNode node, CacheWorkerHome home, Path memoryDirectory)
    {
        public WorkerAddress address()
        {
            return new WorkerAddress(home.address(), home.workerPort());
        }

        public HttpApi http()
        {
            return new HttpApi(home.httpUri());
        }
    }

    private OwnWorkers(Distribution distribution)
            throws IOException
    {
        this.distribution = requireNonNull(distribution, "distribution is null");
        // short, since the path of a socket has at most 107 bytes
        directory = Files.createTempDirectory("cachedhive-attack-");
        memory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-attack-");
        first = assemble("first");
    }

    /**
     * Starts the first cache worker and waits until it serves.
     *
     * @throws io.cachedhive.testing.cluster.ClusterException if it does not start
     */
    public static OwnWorkers start(Distribution distribution)
            throws IOException
    {
        OwnWorkers workers = new OwnWorkers(distribution);
        // a program that is interrupted leaves no cache worker behind
        Runtime.getRuntime().addShutdownHook(workers.atExit);
        try {
            workers.first.node().start();
            workers.first.node().awaitReady();
            return workers;
        }
        catch (RuntimeException e) {
            workers.close();
            throw e;
        }
    }

    private OwnWorker assemble(String name)
    {
        Path memoryDirectory = memory.resolve(name);
        CacheWorkerHome home = CacheWorkerHome.builder(distribution, directory.resolve(name))
                .nodeId(name)
                .environment("attack")
                .workerPort(FreePorts.next())
                .httpPort(FreePorts.next())
                .socketPath(directory.resolve(name + ".sock"))
                .sharedSecret(secret)
                .ramDirectory(memoryDirectory)
                .ramMaxSize("64MB")
                // no attack reads from an object store, and a cache worker needs the file of one
                .origin("default", Map.of("s3.endpoint", "http://127.0.0.1:1", "s3.region", "us-east-1"))
                .assemble();
        return new OwnWorker(ClusterNode.of(name, home), home, memoryDirectory);
    }

    public String secret()
    {
        return secret;
    }

    public OwnWorker first()
    {
        return first;
    }

    /**
     * Returns the second cache worker, which serves.
     */
    public OwnWorker second()
    {
        if (second.isEmpty()) {
            second = Optional.of(assemble("second"));
            second.get().node().start();
            second.get().node().awaitReady();
        }
        return second.get();
    }

    /**
     * Ends the cache workers and deletes their files.
     */
    @Override
    public void close()
            throws IOException
    {
        Runtime.getRuntime().removeShutdownHook(atExit);
        end();
    }

    private void end()
            throws IOException
    {
        first.node().kill();
        second.ifPresent(worker -> worker.node().kill());
        MoreFiles.deleteRecursively(memory, RecursiveDeleteOption.ALLOW_INSECURE);
        MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
    }

    private void endQuietly()
    {
        try {
            end();
        }
        catch (IOException _) {
            // files that remain are in directories for temporary files
        }
    }
}
