package io.cachedhive.worker;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.StreamRead;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.memory.HitVerification;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that compare hits with a real S3 server, which has other bytes than the cache: since a block was damaged in memory, or since the object is another.
 */
@Timeout(120)
class TestVerifiedHits
{
    // a reader that gives up early reads past the cache, and finds nothing to verify
    private static final Timeouts PATIENT = new Timeouts(30_000, 60_000, 100, 1000);
    private static final int LENGTH = 6 * BLOCK_SIZE - 1000;
    private static final Instant LAST_MODIFIED = Instant.ofEpochMilli(1_700_000_000_000L);

    @TempDir
    private Path directory;

    private Lake lake;
    private TestingWorker worker;
    private StoredFile file;
    private final List<CacheClient> clients = new ArrayList<>();

    @BeforeEach
    void start()
    {
        lake = Lake.start(directory.resolve("s3"));
        worker = new TestingWorker(directory).withSsd(64 << 20).withOrigin("default", lake.s3().clientProperties()).start();
        file = lake.put("table/file", LENGTH, 1, LAST_MODIFIED);
    }

    @AfterEach
    void stop()
    {
        lake.s3().setFaults(S3Faults.NONE);
        clients.forEach(CacheClient::close);
        worker.close();
        lake.close();
    }

    private CacheClient client(double ratio)
    {
        CacheClient client = CacheClient.start(new CacheClientConfig(
                worker.socketPath(),
                new ClientIdentity("cluster", "lake", "node", worker.origins(), TestingWorker.SECRETS),
                8 << 20,
                CacheClientConfig.Limits.DEFAULT,
                PATIENT).withVerification(new CacheClientConfig.Verification(ratio, HitVerification.ofThisMachine())));
        clients.add(client);
        Await.until("the worker is there", () -> client.local().connected());
        return client;
    }

    private byte[] read(CacheClient client, ReadObserver observer, OriginInput input, int position, int length)
            throws IOException
    {
        byte[] bytes = new byte[length];
        client.open(0, file.file(), new ReadScope("schema.table", Optional.empty(), true, observer), input).readFully(position, bytes, 0, length);
        return bytes;
    }

    private byte[] read(CacheClient client, ReadObserver observer)
            throws IOException
    {
        return read(client, observer, lake.input(file), 0, LENGTH);
    }

    private static long counter(CacheClient client, String name)
    {
        return client.counters().get(name);
    }

    private void assertHits(CacheClient client, byte[] expected)
            throws IOException
    {
        ReadObserver observer = new ReadObserver();
        assertThat(read(client, observer)).isEqualTo(expected);
        assertThat(observer.bytes(ReadSource.RAM_HIT) + observer.bytes(ReadSource.SSD_HIT)).isEqualTo(LENGTH);
    }

    @Test
    void testEqualBytes()
            throws Exception
    {
        CacheClient plain = client(0);
        CacheClient verifying = client(1);
        assertThat(read(verifying, new ReadObserver())).isEqualTo(file.bytes());
        // it was a miss
        assertThat(counter(verifying, CounterNames.VERIFIED_BYTES)).isZero();

        long mark = lake.s3().log().mark();
        assertHits(plain, file.bytes());
        assertThat(lake.getsSince(mark)).isEmpty();
        assertThat(counter(plain, CounterNames.VERIFIED_BYTES)).isZero();

        assertHits(verifying, file.bytes());
        assertThat(lake.getsSince(mark)).hasSize(1);
        assertThat(counter(verifying, CounterNames.VERIFIED_BYTES)).isEqualTo(LENGTH);
        assertThat(counter(verifying, CounterNames.VERIFY_MISMATCHES)).isZero();
        assertThat(worker.gauge(CounterNames.QUARANTINED_FILES)).isZero();
    }

    @Test
    void testBlockDamagedInMemory()
            throws Exception
    {
        CacheClient plain = client(0);
        CacheClient verifying = client(1);
        read(plain, new ReadObserver());
        damage(3);
        byte[] damaged = file.bytes().clone();
        damaged[3 * BLOCK_SIZE + 100] ^= 1;
        // nobody else would see it
        assertHits(plain, damaged);

        ReadObserver observer = new ReadObserver();
        assertThat(read(verifying, observer)).isEqualTo(file.bytes());
        assertThat(observer.bypassBytes()).isEqualTo(Map.of(BypassCause.CORRUPT, (long) LENGTH));
        assertThat(counter(verifying, CounterNames.VERIFY_MISMATCHES)).isEqualTo(1);
        assertThat(worker.gauge(CounterNames.QUARANTINED_FILES)).isEqualTo(1);
        assertNeverServedAgain(plain, file.bytes());
    }

    private void assertNeverServedAgain(CacheClient plain, byte[] expected)
            throws Exception
    {
        ReadObserver observer = new ReadObserver();
        assertThat(read(plain, observer)).isEqualTo(expected);
        assertThat(observer.bytes(ReadSource.REMOTE_READ)).isEqualTo(LENGTH);
        assertHits(plain, expected);

        worker.stop();
        worker.start();
        assertThat(read(client(0), new ReadObserver())).isEqualTo(expected);
    }

    /**
     * Flips a bit of the block where readers find it.
     */
    private void damage(int block)
            throws IOException
    {
        Path memory = worker.service().store().memoryFile();
        byte[] content = Files.readAllBytes(memory);
        byte[] wanted = Arrays.copyOfRange(file.bytes(), block * BLOCK_SIZE, block * BLOCK_SIZE + 64);
        List<Integer> found = new ArrayList<>();
        for (int offset = 0; offset + wanted.length <= content.length; offset++) {
            if (content[offset] == wanted[0] && Arrays.equals(content, offset, offset + wanted.length, wanted, 0, wanted.length)) {
                found.add(offset);
            }
        }
        assertThat(found).hasSize(1);
        try (RandomAccessFile access = new RandomAccessFile(memory.toFile(), "rw")) {
            access.seek(found.getFirst() + 100);
            access.write(content[found.getFirst() + 100] ^ 1);
        }
    }

    /**
     * As somebody might who overwrites it within the same second: checksums of the blocks on SSD are right.
     */
    @Test
    void testObjectReplacedUnseen()
            throws Exception
    {
        read(client(0), new ReadObserver());
        Await.until("all is on SSD", () -> worker.gauge(CounterNames.SSD_BLOCKS) == 6);
        StoredFile replaced = lake.put("table/file", LENGTH, 2, LAST_MODIFIED);
        worker.stop();
        worker.start();
        Await.until("all is found again", () -> worker.gauge(CounterNames.RESTORED_BLOCKS) == 6);

        CacheClient plain = client(0);
        assertHits(plain, file.bytes());
        CacheClient verifying = client(1);
        assertThat(read(verifying, new ReadObserver())).isEqualTo(replaced.bytes());
        assertThat(counter(verifying, CounterNames.VERIFY_MISMATCHES)).isEqualTo(1);
        assertNeverServedAgain(plain, replaced.bytes());
    }

    /**
     * In the split the file is what it was, and so it is in the cache.
     */
    @Test
    void testObjectReplacedSinceIsNoMismatch()
            throws Exception
    {
        CacheClient verifying = client(1);
        read(verifying, new ReadObserver());
        StoredFile replaced = lake.put("table/file", LENGTH, 2, LAST_MODIFIED.plusSeconds(5));
        ReadObserver observer = new ReadObserver();

        assertThat(read(verifying, observer, lake.input(replaced), 0, LENGTH)).isEqualTo(file.bytes());
        assertThat(observer.bytes(ReadSource.RAM_HIT)).isEqualTo(LENGTH);
        assertThat(counter(verifying, CounterNames.VERIFY_MISMATCHES)).isZero();
        assertThat(worker.gauge(CounterNames.QUARANTINED_FILES)).isZero();
    }

    @Test
    void testOriginThatFailsHarmsNobody()
            throws Exception
    {
        CacheClient verifying = client(1);
        read(verifying, new ReadObserver());
        ReadObserver observer = new ReadObserver();
        byte[] bytes = read(
                verifying,
                observer,
                new OriginInput()
                {
                    @Override
                    public void readFully(long position, byte[] buffer, int offset, int length)
                            throws IOException
                    {
                        throw new IOException("503");
                    }

                    @Override
                    public int readTail(byte[] buffer, int offset, int maxLength)
                            throws IOException
                    {
                        throw new IOException("503");
                    }

                    @Override
                    public FileState current()
                    {
                        throw new AssertionError("there is nothing to ask for");
                    }
                },
                0,
                LENGTH);
        assertThat(bytes).isEqualTo(file.bytes());
        assertThat(observer.bytes(ReadSource.RAM_HIT)).isEqualTo(LENGTH);
        assertThat(counter(verifying, CounterNames.VERIFIED_BYTES)).isZero();
    }

    @Test
    void testReadAheadIsVerified()
            throws Exception
    {
        CacheClient plain = client(0);
        CacheClient verifying = client(1);
        read(plain, new ReadObserver());
        damage(1);
        ReadObserver observer = new ReadObserver();
        byte[] bytes = new byte[2 * BLOCK_SIZE];
        StreamRead read = verifying.open(0, file.file(), new ReadScope("schema.table", Optional.empty(), true, observer), lake.input(file))
                .readAhead(BLOCK_SIZE, bytes, 0, bytes.length);
        ReadAhead ahead = ((StreamRead.Served) read).bytes();
        ahead.use(bytes.length);
        assertThat(bytes).isEqualTo(Arrays.copyOfRange(file.bytes(), BLOCK_SIZE, 3 * BLOCK_SIZE));
        assertThat(counter(verifying, CounterNames.VERIFY_MISMATCHES)).isEqualTo(1);
        assertThat(observer.bytes(ReadSource.BYPASS)).isEqualTo(bytes.length);
    }

    @Test
    void testShareOfHits()
            throws Exception
    {
        CacheClient verifying = client(0.1);
        read(verifying, new ReadObserver());
        long mark = lake.s3().log().mark();
        for (int i = 0; i < 1000; i++) {
            read(verifying, new ReadObserver(), lake.input(file), i, 10);
        }
        // 100 are expected, with a deviation of 9.5
        assertThat(lake.getsSince(mark).size()).isBetween(45, 160);
        assertThat(counter(verifying, CounterNames.VERIFIED_BYTES)).isEqualTo(10L * lake.getsSince(mark).size());
    }
}
