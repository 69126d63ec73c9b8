package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Reads that are under way before anybody asks for them.
 */
class TestPendingReadAhead
{
    private static final Executor EXECUTOR = task -> Thread.ofPlatform().daemon().start(task);

    private ReadFixture fixture;
    private CacheClient client;
    private CachedFile file;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        fixture.listen();
        client = fixture.connected(fixture.client());
        file = fixture.open(client);
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    @Test
    void testComesWhileNobodyAsks()
            throws Exception
    {
        PendingReadAhead pending = file.beginReadAhead(100, 3 * BLOCK, EXECUTOR).orElseThrow();
        Await.until("asked", () -> fixture.local.readRequests.size() == 1);
        assertThat(pending.position()).isEqualTo(100);

        ReadAhead read = ReadFixture.served(pending.finish());
        assertThat(pending.bytes()).isEqualTo(fixture.expected(100, 3 * BLOCK));
        assertThat(read.unusedBytes()).isEqualTo(3 * BLOCK);
        fixture.assertSources(client, Map.of());
        read.use(BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));
        assertThat(fixture.local.readRequests).hasSize(1);
        assertThat(fixture.input.reads()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testCameFromWorkers()
            throws Exception
    {
        fixture.local.source = Source.REMOTE;
        fixture.local.share(fixture.file, 0, 1);
        assertThat(ReadFixture.served(file.readAhead(0, new byte[BLOCK], 0, BLOCK)).cameFromWorkers()).as("in shared memory").isFalse();
        assertThat(ReadFixture.served(file.readAhead(2 * BLOCK, new byte[BLOCK], 0, BLOCK)).cameFromWorkers()).isTrue();
    }

    /**
     * The stream asks the origin by itself, from where its reader is.
     */
    @Test
    void testWhatTheCacheDoesNotServe()
            throws Exception
    {
        CountDownLatch answered = new CountDownLatch(1);
        fixture.local.reads = (exchange, read) -> {
            exchange.no(read.firstBlock(), NoCause.ORIGIN_FAILED);
            answered.countDown();
        };
        PendingReadAhead pending = file.beginReadAhead(0, 2 * BLOCK, EXECUTOR).orElseThrow();
        answered.await();
        Await.until("the worker's answer is there", () -> client.inFlight().requests() == 0);
        assertThat(fixture.input.reads()).isEmpty();

        assertThat(pending.finish()).isInstanceOfSatisfying(StreamRead.Bypassed.class, read -> assertThat(read.cause()).isEqualTo(BypassCause.ORIGIN_FAILED));
        assertThat(fixture.input.reads()).isEmpty();
        assertThat(fixture.local.readRequests).as("the worker is not asked again").hasSize(1);
        fixture.assertSources(client, Map.of());
        ReadFixture.assertIdle(client);
    }

    /**
     * More at once than readers ask for may be too much; what a reader asks for need not be.
     */
    @Test
    void testOverloadedBeforeTheReaderCame()
            throws Exception
    {
        CountDownLatch answered = new CountDownLatch(1);
        fixture.local.reads = (exchange, read) -> {
            fixture.local.reads = TestingWorker.Exchange::answerAll;
            exchange.no(read.firstBlock(), NoCause.OVERLOADED);
            answered.countDown();
        };
        PendingReadAhead pending = file.beginReadAhead(0, BLOCK, EXECUTOR).orElseThrow();
        answered.await();
        ReadAhead read = ReadFixture.served(pending.finish());
        assertThat(pending.bytes()).isEqualTo(fixture.expected(0, BLOCK));
        read.use(BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));
        assertThat(fixture.input.reads()).isEmpty();
    }

    @Test
    void testCancel()
            throws Exception
    {
        CountDownLatch asked = new CountDownLatch(1);
        fixture.local.reads = (_, _) -> asked.countDown();
        PendingReadAhead pending = file.beginReadAhead(0, BLOCK, EXECUTOR).orElseThrow();
        asked.await();
        pending.cancel();

        Await.until("the worker need not go on", () -> fixture.local.cancelled.size() == 1);
        ReadFixture.assertIdle(client);
        assertThat(fixture.input.reads()).isEmpty();
        fixture.assertSources(client, Map.of());
    }

    /**
     * However many streams there are, they read ahead into half of the client's memory.
     */
    @Test
    void testMemoryIsBounded()
            throws Exception
    {
        CacheClient small = fixture.connected(fixture.client(PATIENT, new CacheClientConfig.Limits(4 * BLOCK, 4096, 8 << 20, 1), ReadFixture.SECRET));
        CachedFile stream = fixture.open(small);
        PendingReadAhead first = stream.beginReadAhead(0, BLOCK, EXECUTOR).orElseThrow();
        PendingReadAhead second = stream.beginReadAhead(BLOCK, BLOCK, EXECUTOR).orElseThrow();
        assertThat(small.inFlight().heapBytes()).isEqualTo(2 * BLOCK);
        assertThat(stream.beginReadAhead(2 * BLOCK, BLOCK, EXECUTOR)).isEmpty();
        assertThat(small.inFlight().heapBytes()).isEqualTo(2 * BLOCK);

        ReadFixture.served(first.finish());
        assertThat(small.inFlight().heapBytes()).isEqualTo(BLOCK);
        PendingReadAhead third = stream.beginReadAhead(2 * BLOCK, BLOCK, EXECUTOR).orElseThrow();
        second.cancel();
        second.cancel();
        third.cancel();
        ReadFixture.assertIdle(small);

        // one that is never begun, and one that nobody runs
        List<Runnable> waiting = new ArrayList<>();
        PendingReadAhead notBegun = stream.beginReadAhead(0, BLOCK, waiting::add).orElseThrow();
        notBegun.cancel();
        assertThat(small.inFlight().heapBytes()).isZero();
        waiting.forEach(Runnable::run);
        assertThat(small.inFlight().heapBytes()).isZero();
        assertThatThrownBy(() -> stream.beginReadAhead(0, BLOCK, _ -> {
            throw new RejectedExecutionException();
        })).isInstanceOf(RejectedExecutionException.class);
        assertThat(small.inFlight().heapBytes()).isZero();
        assertThat(stream.beginReadAhead(0, BLOCK, _ -> {
            throw new OutOfMemoryError("unable to create native thread");
        })).isEmpty();
        assertThat(small.inFlight().heapBytes()).isZero();
    }

    @Test
    void testInterruptedReader()
            throws Exception
    {
        CountDownLatch asked = new CountDownLatch(1);
        fixture.local.reads = (_, _) -> asked.countDown();
        PendingReadAhead pending = file.beginReadAhead(0, BLOCK, EXECUTOR).orElseThrow();
        asked.await();
        Thread.currentThread().interrupt();
        assertThatThrownBy(pending::finish).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();

        Await.until("the worker need not go on", () -> fixture.local.cancelled.size() == 1);
        ReadFixture.assertIdle(client);
        assertThat(fixture.input.reads()).isEmpty();
    }

    @Test
    void testBeyondTheEnd()
    {
        for (long position : List.of(-1L, (long) fixture.bytes.length)) {
            assertThatThrownBy(() -> file.beginReadAhead(position, 10, EXECUTOR)).isInstanceOf(IOException.class);
        }
    }
}
