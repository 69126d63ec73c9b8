package io.cachedhive.worker.testing;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.CacheClientConfig.Limits;
import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A JVM that reads a file through the cache, with several threads at once: says {@value READY} when it is connected, begins when a byte comes on its standard input,
 * and says a line for each reader with the hash of what it read. It has no other way to the file than the cache worker.
 */
public final class ReaderProcess
{
    public static final String READY = "ready";
    public static final String HASH = "hash ";

    private ReaderProcess() {}

    /**
     * @param arguments socket path, endpoint of the origin, location, length and modification time of the file, number of readers
     */
    public static void main(String[] arguments)
            throws Exception
    {
        OriginId origin = Lake.originId(arguments[1]);
        FileVersion file = new FileVersion(origin, arguments[2], Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
        int readers = Integer.parseInt(arguments[5]);
        CacheClientConfig config = new CacheClientConfig(
                Path.of(arguments[0]),
                new ClientIdentity("cluster", "lake", "node", List.of(new NamedOrigin("default", origin)), Secrets.NONE),
                8 << 20,
                Limits.DEFAULT,
                new Timeouts(30_000, 60_000, 100, 1000));
        try (CacheClient client = CacheClient.start(config); ExecutorService executor = Executors.newFixedThreadPool(readers)) {
            Await.until("the worker is there", () -> client.local().connected());
            System.out.println(READY);
            if (System.in.read() < 0) {
                throw new IOException("nobody said when to begin");
            }
            List<Future<Integer>> reads = new ArrayList<>();
            for (int reader = 0; reader < readers; reader++) {
                reads.add(executor.submit(() -> {
                    byte[] bytes = new byte[(int) file.length()];
                    client.open(0, file, new ReadScope("schema.table", Optional.empty(), true, new ReadObserver()), new NoInput()).readFully(0, bytes, 0, bytes.length);
                    return Arrays.hashCode(bytes);
                }));
            }
            for (Future<Integer> read : reads) {
                System.out.println(HASH + read.get());
            }
        }
    }

    private record NoInput()
            implements OriginInput
    {
        @Override
        public void readFully(long position, byte[] buffer, int offset, int length)
                throws IOException
        {
            throw new IOException("the cache did not serve");
        }

        @Override
        public int readTail(byte[] buffer, int offset, int maxLength)
                throws IOException
        {
            throw new IOException("the cache did not serve");
        }

        @Override
        public FileState current()
                throws IOException
        {
            throw new IOException("the cache did not serve");
        }
    }
}
