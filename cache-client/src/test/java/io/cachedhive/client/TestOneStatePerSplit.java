package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static io.cachedhive.client.ReadFixture.TABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A file is replaced while a split reads it. No byte of the new state is like that of the old one, so that a mixture shows.
 */
@Tag("slow")
class TestOneStatePerSplit
{
    private static final Executor EXECUTOR = task -> Thread.ofPlatform().daemon().start(task);
    // for answers that do not come
    private static final Timeouts SHORT = new Timeouts(200, 400, 100, 200);
    private static final String REPLACED = "file s3://bucket/file was replaced while it was read: run the query again";

    private ReadFixture fixture;
    private TestingWorker local;
    private TestingWorker other;
    private Optional<PublishedRing> ring = Optional.empty();

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
        other = fixture.worker("other");
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    /**
     * A cause for which a read goes to the origin, from one moment on.
     */
    enum Trouble
    {
        SILENT(BypassCause.TIMEOUT),
        FETCHING_FOREVER(BypassCause.FETCH_TIMEOUT),
        DISCONNECTS(BypassCause.DISCONNECTED),
        KILLED(BypassCause.NO_WORKER),
        GARBAGE(BypassCause.PROTOCOL_ERROR),
        ERROR(BypassCause.PROTOCOL_ERROR),
        FLIPPED_BIT(BypassCause.CORRUPT),
        ABSENT(BypassCause.ABSENT),
        OVERLOADED(BypassCause.OVERLOADED),
        ORIGIN_FAILED(BypassCause.ORIGIN_FAILED),
        VERSION_GONE(BypassCause.VERSION_GONE),
        LEASE_TIMEOUT(BypassCause.LEASE_TIMEOUT),
        UNAVAILABLE(BypassCause.UNAVAILABLE),
        OTHER_ETAG(BypassCause.ETAG_CHANGED),
        NO_ETAG(BypassCause.ETAG_CHANGED),
        LEASE(BypassCause.VERSION_GONE),
        CLIENT_CLOSED(BypassCause.CLOSED);

        private final BypassCause cause;

        Trouble(BypassCause cause)
        {
            this.cause = cause;
        }

        /**
         * Whether the client finds out by waiting. A slow machine may give it another cause before.
         */
        boolean isMatterOfTime()
        {
            return this == SILENT || this == FETCHING_FOREVER;
        }

        /**
         * Whether the client knows of the replacement without asking the origin.
         */
        boolean isKnownReplacement()
        {
            return this == VERSION_GONE || this == OTHER_ETAG;
        }
    }

    private void begin(CacheClient client, Trouble trouble)
            throws IOException
    {
        switch (trouble) {
            case SILENT -> local.reads = (_, _) -> {};
            case FETCHING_FOREVER -> local.reads = (exchange, _) -> exchange.fetching();
            case DISCONNECTS -> local.reads = (exchange, _) -> exchange.disconnect();
            case KILLED -> {
                local.stop();
                Await.until("the worker is lost", () -> !client.local().connected());
            }
            case GARBAGE -> local.reads = (exchange, _) -> exchange.write(new byte[100]);
            case ERROR -> local.reads = (exchange, _) -> exchange.send(new ControlMessage.Error("not today"));
            case FLIPPED_BIT -> local.reads = (exchange, read) -> exchange.answerFlipped(read.firstBlock(), 0);
            case ABSENT -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.ABSENT);
            case OVERLOADED -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.OVERLOADED);
            case ORIGIN_FAILED -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.ORIGIN_FAILED);
            case VERSION_GONE -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.VERSION_GONE);
            case LEASE_TIMEOUT -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.LEASE_TIMEOUT);
            case UNAVAILABLE -> local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.UNAVAILABLE);
            case OTHER_ETAG -> local.reads = (exchange, read) -> exchange.answer(read.firstBlock(), TestingWorker.ETAG + 1);
            case NO_ETAG -> local.reads = (exchange, read) -> exchange.answer(read.firstBlock(), ETags.NONE);
            case LEASE -> local.reads = (exchange, read) -> exchange.lease(read.firstBlock());
            case CLIENT_CLOSED -> client.close();
        }
    }

    private CacheClient start(Trouble trouble)
            throws IOException
    {
        fixture.listen();
        return fixture.connected(fixture.client(trouble.isMatterOfTime() ? SHORT : PATIENT));
    }

    private byte[] replace()
    {
        byte[] replaced = fixture.bytes.clone();
        for (int i = 0; i < replaced.length; i++) {
            replaced[i] ^= (byte) 0xFF;
        }
        fixture.input.replace(replaced, new FileState(replaced.length, fixture.file.lastModifiedMillis() + 1000));
        return replaced;
    }

    @ParameterizedTest
    @EnumSource
    void testReplacedAfterCachedBytes(Trouble trouble)
            throws Exception
    {
        // read without asking the worker, so that a slow machine cannot make it bypass
        local.share(fixture.file, 0);
        CacheClient client = start(trouble);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, BLOCK);
        replace();
        begin(client, trouble);

        assertThatThrownBy(() -> fixture.read(file, 2 * BLOCK, 10)).isInstanceOf(FileReplacedException.class).hasMessage(REPLACED);
        // and it stays so
        assertThatThrownBy(() -> fixture.read(file, 3 * BLOCK, 10)).isInstanceOf(FileReplacedException.class);
        assertThatThrownBy(() -> file.readTail(new byte[10], 0, 10)).isInstanceOf(FileReplacedException.class);
        if (trouble == Trouble.ABSENT) {
            // those that gave blocks of the old state check theirs
            Await.until("revalidated", () -> local.revalidations.size() == 1);
        }
        assertThat(fixture.observer.totalBytes()).as("bytes that were delivered").isEqualTo(BLOCK);
    }

    @ParameterizedTest
    @EnumSource
    void testReplacedBeforeTheFirstByte(Trouble trouble)
            throws Exception
    {
        CacheClient client = start(trouble);
        CachedFile file = fixture.open(client);
        byte[] replaced = replace();
        // the second block is from the worker that has no ETag, or another: the first has to be there
        local.share(fixture.file, 2);
        begin(client, trouble);

        // as plain Hive: all from the origin
        assertThat(fixture.read(file, 2 * BLOCK - 5, 10)).isEqualTo(Arrays.copyOfRange(replaced, 2 * BLOCK - 5, 2 * BLOCK + 5));
        local.reads = TestingWorker.Exchange::answerAll;
        byte[] tail = new byte[10];
        assertThat(file.readTail(tail, 0, 10)).isEqualTo(10);
        assertThat(tail).isEqualTo(Arrays.copyOfRange(replaced, replaced.length - 10, replaced.length));
        // cached again, which the split must not see
        assertThat(fixture.read(file, 2 * BLOCK, BLOCK)).isEqualTo(Arrays.copyOfRange(replaced, 2 * BLOCK, 3 * BLOCK));
    }

    /// The cache is in trouble and the file is not: one request shows that the file is the same, and no more of them are made.
    @ParameterizedTest
    @EnumSource
    void testUnchangedFile(Trouble trouble)
            throws Exception
    {
        // read without asking the worker, so that a slow machine cannot make it bypass
        local.share(fixture.file, 0);
        CacheClient client = start(trouble);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, BLOCK);
        begin(client, trouble);
        if (trouble.isKnownReplacement()) {
            assertThatThrownBy(() -> fixture.read(file, 2 * BLOCK, 10)).isInstanceOf(FileReplacedException.class);
            return;
        }
        fixture.assertReads(file, 2 * BLOCK, 10);
        fixture.assertReads(file, 4 * BLOCK, 10);
        // a lease looks by itself before its bytes are kept, and is then refused beside blocks that have an ETag
        assertThat(fixture.input.stateRequests()).isEqualTo(trouble == Trouble.LEASE ? 2 : 1);
        if (trouble != Trouble.LEASE && !trouble.isMatterOfTime()) {
            assertThat(fixture.observer.bypassBytes()).containsKey(trouble.cause);
        }
        // the cache serves again where it is still asked
        local.reads = TestingWorker.Exchange::answerAll;
        fixture.assertReads(file, 6 * BLOCK, 10);
        assertThat(fixture.input.stateRequests()).isEqualTo(trouble == Trouble.LEASE ? 2 : 1);
    }

    @ParameterizedTest
    @EnumSource
    void testNoRequestWithoutCachedBytes(Trouble trouble)
            throws Exception
    {
        CacheClient client = start(trouble);
        CachedFile file = fixture.open(client);
        begin(client, trouble);
        fixture.assertReads(file, 2 * BLOCK, 10);
        fixture.assertReads(file, 4 * BLOCK, 10);
        assertThat(fixture.input.stateRequests()).isEqualTo(trouble == Trouble.LEASE ? 2 : 0);
    }

    @Test
    void testNoRequestWhileTheCacheServes()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        fixture.assertReads(fixture.open(client), 0, fixture.bytes.length);
        assertThat(fixture.input.stateRequests()).isZero();
        assertThat(fixture.input.reads()).isEmpty();
    }

    @Test
    void testCachedBytesAfterTheOrigin()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        begin(client, Trouble.ABSENT);
        fixture.assertReads(file, 0, 10);
        local.reads = TestingWorker.Exchange::answerAll;
        fixture.assertReads(file, BLOCK, 10);
        fixture.assertReads(file, 2 * BLOCK, 10);
        assertThat(fixture.input.stateRequests()).isEqualTo(1);
        assertThat(fixture.input.reads()).hasSize(1);
    }

    @Test
    void testCachedBytesAfterTheOriginOfAReplacedFile()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        begin(client, Trouble.ABSENT);
        byte[] replaced = replace();
        assertThat(fixture.read(file, 0, 10)).isEqualTo(Arrays.copyOf(replaced, 10));
        local.reads = TestingWorker.Exchange::answerAll;
        for (int block = 1; block < 4; block++) {
            assertThat(fixture.read(file, block * BLOCK, 10)).isEqualTo(Arrays.copyOfRange(replaced, block * BLOCK, block * BLOCK + 10));
        }
        assertThat(fixture.input.stateRequests()).isEqualTo(1);
    }

    /// The new state is longer than the split says: footers lie at its end, and name places behind the end of the old one.
    @Test
    void testLongerFile()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        begin(client, Trouble.VERSION_GONE);
        byte[] longer = new byte[fixture.bytes.length + 1000];
        new Random(2).nextBytes(longer);
        fixture.input.replace(longer, new FileState(longer.length, fixture.file.lastModifiedMillis() + 1000));

        byte[] tail = new byte[100];
        assertThat(file.readTail(tail, 0, 100)).isEqualTo(100);
        assertThat(tail).isEqualTo(Arrays.copyOfRange(longer, longer.length - 100, longer.length));
        assertThat(fixture.read(file, fixture.bytes.length - 10, 500)).isEqualTo(Arrays.copyOfRange(longer, fixture.bytes.length - 10, fixture.bytes.length + 490));
        fixture.assertBypassed(client, BypassCause.VERSION_GONE, 600);

        byte[] shorter = Arrays.copyOf(longer, 50);
        fixture.input.replace(shorter, new FileState(shorter.length, fixture.file.lastModifiedMillis() + 2000));
        assertThat(file.readTail(tail, 0, 100)).isEqualTo(50);
    }

    @Test
    void testDeletedFile()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 10);
        begin(client, Trouble.ABSENT);
        fixture.input.failState(new FileNotFoundException("s3://bucket/file"));
        assertThatThrownBy(() -> fixture.read(file, BLOCK, 10)).isInstanceOf(FileReplacedException.class);
    }

    @Test
    void testOriginThatDoesNotSay()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 10);
        begin(client, Trouble.ABSENT);
        fixture.input.failState(new IOException("503"));
        assertThatThrownBy(() -> fixture.read(file, BLOCK, 10))
                .isNotInstanceOf(FileReplacedException.class)
                .hasMessage("cannot find out whether file s3://bucket/file was replaced while it was read: 503");
        // no bytes of it were given: the reader may try again
        fixture.input.failState(null);
        fixture.assertReads(file, BLOCK, 10);

        // the other way round, the origin goes on to serve
        CachedFile second = fixture.open(client);
        fixture.assertReads(second, BLOCK, 10);
        fixture.input.failState(new IOException("503"));
        local.reads = TestingWorker.Exchange::answerAll;
        fixture.assertReads(second, 2 * BLOCK, 10);
        fixture.input.failState(null);
        int requests = fixture.input.stateRequests();
        fixture.assertReads(second, 3 * BLOCK, 10);
        assertThat(fixture.input.stateRequests()).as("requests for a state that the origin did not tell before").isEqualTo(requests);
    }

    /// The origin fails the read of what it has no more, before anybody compares states.
    @Test
    void testShorterFile()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 10);
        begin(client, Trouble.ABSENT);
        fixture.input.replace(new byte[BLOCK], new FileState(BLOCK, fixture.file.lastModifiedMillis() + 1000));
        assertThatThrownBy(() -> fixture.read(file, 2 * BLOCK, 10))
                .isInstanceOf(FileReplacedException.class)
                .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
        // a failure that has nothing to do with it stays what it is
        CachedFile second = fixture.open(client);
        local.reads = TestingWorker.Exchange::answerAll;
        fixture.assertReads(second, 0, 10);
        begin(client, Trouble.ABSENT);
        fixture.input.replace(fixture.bytes, new FileState(fixture.file.length(), fixture.file.lastModifiedMillis()));
        fixture.input.fail(new IOException("503"));
        assertThatThrownBy(() -> fixture.read(second, BLOCK, 10)).hasMessage("503");
    }

    /// The state of an origin that was replaced within the second looks the same. What a worker knew is not forgotten with the read that heard it.
    @Test
    void testKnownReplacementOfAReadAheadThatIsCancelled()
            throws Exception
    {
        CacheClient client = start(Trouble.VERSION_GONE);
        CachedFile file = fixture.open(client);
        ReadFixture.served(file.readAhead(0, new byte[BLOCK], 0, BLOCK)).use(BLOCK);
        begin(client, Trouble.VERSION_GONE);
        PendingReadAhead pending = file.beginReadAhead(BLOCK, BLOCK, EXECUTOR).orElseThrow();
        Await.until("revalidated", () -> local.revalidations.size() == 1);
        pending.cancel();
        StreamRead.Bypassed bypassed = (StreamRead.Bypassed) file.readAhead(4 * BLOCK, new byte[BLOCK], 0, BLOCK);
        assertThatThrownBy(() -> file.deliverFromOrigin(4 * BLOCK, 10, bypassed.cause(), 0, true)).isInstanceOf(FileReplacedException.class);
        assertThat(fixture.input.stateRequests()).isZero();
    }

    /// As Avro's reader does, and as a reader of delete deltas may.
    @Test
    void testFileThatASplitOpensTwice()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        ReadScope scope = new ReadScope(TABLE, Optional.empty(), true, fixture.observer);
        fixture.assertReads(fixture.open(client, scope), 0, 10);
        begin(client, Trouble.ABSENT);
        replace();
        assertThatThrownBy(() -> fixture.read(fixture.open(client, scope), BLOCK, 10)).isInstanceOf(FileReplacedException.class).hasMessage(REPLACED);

        // a file of its own
        FileVersion apart = new FileVersion(ReadFixture.ORIGIN, "s3://bucket/apart", fixture.bytes.length, 1);
        TestingInput input = new TestingInput(apart, fixture.bytes);
        client.open(0, apart, scope, input).readFully(0, new byte[10], 0, 10);
        assertThat(input.stateRequests()).isZero();

        // another version, known from the listing of the directory
        FileVersion version = new FileVersion(ReadFixture.ORIGIN, "s3://bucket/file", fixture.bytes.length, fixture.file.lastModifiedMillis() + 1000);
        assertThatThrownBy(() -> client.open(0, version, scope, fixture.input)).isInstanceOf(FileReplacedException.class).hasMessage(REPLACED);
        // which another split may well read
        client.open(0, version, new ReadScope(TABLE, Optional.empty(), true, fixture.observer), fixture.input).readFully(0, new byte[10], 0, 10);
    }

    @Test
    void testWonHedge()
            throws Exception
    {
        CacheClient client = startWithOwner();
        CachedFile file = fixture.open(client, ring.map(PublishedRing::epoch), true);
        long position = fixture.chunkOf(ring.orElseThrow(), other);
        earnAHedge(file, position);
        other.reads = (_, _) -> {};
        replace();
        assertThatThrownBy(() -> fixture.read(file, position, BLOCK)).isInstanceOf(FileReplacedException.class);
        assertThat(client.counters().get("hedges_won")).isEqualTo(1);
    }

    @Test
    void testWonHedgeOfAnUnchangedFile()
            throws Exception
    {
        CacheClient client = startWithOwner();
        CachedFile file = fixture.open(client, ring.map(PublishedRing::epoch), true);
        long position = fixture.chunkOf(ring.orElseThrow(), other);
        earnAHedge(file, position);
        other.reads = (_, _) -> {};
        fixture.assertReads(file, position, BLOCK);
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.HEDGED, (long) BLOCK));
        assertThat(fixture.input.stateRequests()).isEqualTo(1);
    }

    private CacheClient startWithOwner()
            throws IOException
    {
        ring = Optional.of(fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp()))));
        return start(Trouble.ABSENT);
    }

    private void earnAHedge(CachedFile file, long position)
            throws IOException
    {
        // with the next one it is a hundred
        for (int i = 0; i < 99; i++) {
            fixture.assertReads(file, position, 1);
        }
        assertThat(fixture.input.reads()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void testStream(Trouble trouble)
            throws Exception
    {
        // read without asking the worker, so that a slow machine cannot make it bypass
        local.share(fixture.file, 0);
        CacheClient client = start(trouble);
        CachedFile file = fixture.open(client);
        byte[] window = new byte[BLOCK];
        ReadFixture.served(file.readAhead(0, window, 0, BLOCK)).use(BLOCK);
        assertThat(window).isEqualTo(fixture.expected(0, BLOCK));
        begin(client, trouble);
        PendingReadAhead pending = file.beginReadAhead(BLOCK, BLOCK, EXECUTOR).orElseThrow();
        replace();
        assertThatThrownBy(() -> {
            switch (pending.finish()) {
                case StreamRead.Served read -> throw new AssertionError("served " + read);
                case StreamRead.Bypassed bypassed -> file.deliverFromOrigin(BLOCK, 10, bypassed.cause(), bypassed.waitNanos(), true);
            }
        }).isInstanceOf(FileReplacedException.class).hasMessage(REPLACED);
    }

    /// A second request of one stream is checked also when an earlier one was: plain Hive would have read on.
    @Test
    void testStreamAfterAWonHedge()
            throws Exception
    {
        CacheClient client = startWithOwner();
        CachedFile file = fixture.open(client, ring.map(PublishedRing::epoch), true);
        long position = fixture.chunkOf(ring.orElseThrow(), other);
        earnAHedge(file, position);
        other.reads = (_, _) -> {};
        ReadAhead hedged = ReadFixture.served(file.readAhead(position, new byte[BLOCK], 0, BLOCK));
        hedged.use(BLOCK);
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.HEDGED, (long) BLOCK));
        assertThat(fixture.input.stateRequests()).isEqualTo(1);

        other.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.ABSENT);
        StreamRead.Bypassed bypassed = (StreamRead.Bypassed) file.readAhead(position + BLOCK, new byte[BLOCK], 0, BLOCK);
        replace();
        assertThatThrownBy(() -> file.deliverFromOrigin(position + BLOCK, 10, bypassed.cause(), 0, true)).isInstanceOf(FileReplacedException.class);
    }

    /// Plain Hive opens such a file more than once as well.
    @Test
    void testSecondStreamWithoutCachedBytes()
            throws Exception
    {
        CacheClient client = start(Trouble.ABSENT);
        ReadScope scope = new ReadScope(TABLE, Optional.empty(), true, fixture.observer);
        begin(client, Trouble.ABSENT);
        for (int i = 0; i < 3; i++) {
            CachedFile file = fixture.open(client, scope);
            StreamRead.Bypassed bypassed = (StreamRead.Bypassed) file.readAhead(0, new byte[10], 0, 10);
            file.deliverFromOrigin(0, 10, bypassed.cause(), 0, false).use(10);
        }
        assertThat(fixture.input.stateRequests()).isZero();
    }

    /// Splits read in every way while workers are in every trouble, and the file is replaced at some moment.
    @Test
    void testRandomly()
            throws Exception
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("-Dcachedhive.test.seed=" + seed);
        Random random = new Random(seed);
        List<NoCause> causes = List.of(NoCause.ABSENT, NoCause.OVERLOADED, NoCause.ORIGIN_FAILED, NoCause.UNAVAILABLE, NoCause.LEASE_TIMEOUT);
        CacheClient client = start(Trouble.ABSENT);
        byte[] old = fixture.bytes;
        byte[] replaced = replace();
        FileState oldState = new FileState(old.length, fixture.file.lastModifiedMillis());
        FileState newState = new FileState(old.length, fixture.file.lastModifiedMillis() + 1000);
        int failures = 0;
        int replacements = 0;
        for (int split = 0; split < 400; split++) {
            fixture.input.replace(old, oldState);
            boolean[] isReplaced = {false};
            double trouble = random.nextDouble();
            local.reads = (exchange, read) -> {
                int draw;
                synchronized (random) {
                    draw = random.nextDouble() < trouble ? random.nextInt(causes.size() + 3) : -1;
                }
                if (draw < 0) {
                    // what it has is of the old state, whatever the origin has
                    exchange.answerAll(read);
                }
                else if (draw < causes.size()) {
                    exchange.no(read.firstBlock(), causes.get(draw));
                }
                else if (draw == causes.size()) {
                    for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                        exchange.lease(block);
                    }
                }
                else {
                    exchange.no(read.firstBlock(), isReplaced[0] ? NoCause.VERSION_GONE : NoCause.ABSENT);
                }
            };
            int replaceAt = random.nextInt(16);
            boolean asStream = random.nextBoolean();
            ReadScope scope = new ReadScope(TABLE, Optional.empty(), true, fixture.observer);
            ModelReader reader = asStream ? new ModelStream(fixture.open(client, scope)) : new ModelInput(fixture.open(client, scope), random);
            Optional<byte[]> seen = Optional.empty();
            try {
                for (int read = 0; read < 10; read++) {
                    if (read == replaceAt) {
                        if (reader.readsOriginByRanges()) {
                            // each by a request of its own, which may see two states in plain Hive too
                            break;
                        }
                        fixture.input.replace(replaced, newState);
                        isReplaced[0] = true;
                        replacements++;
                    }
                    ModelReader.Range range = reader.read();
                    byte[] expected = seen.orElseGet(() -> range.matches(old) ? old : replaced);
                    assertThat(range.matches(expected)).as("split %s, read %s (%s): one state", split, read, asStream ? "stream" : "input").isTrue();
                    seen = Optional.of(expected);
                }
            }
            catch (FileReplacedException e) {
                assertThat(isReplaced[0]).as("split %s failed although its file was not replaced", split).isTrue();
                failures++;
            }
            reader.close();
        }
        System.out.printf("%s of 400 files were replaced, %s splits failed%n", replacements, failures);
        assertThat(failures).isPositive();
    }

    private interface ModelReader
    {
        record Range(int position, byte[] bytes)
        {
            boolean matches(byte[] state)
            {
                return Arrays.equals(bytes, 0, bytes.length, state, position, position + bytes.length);
            }
        }

        Range read()
                throws IOException;

        boolean readsOriginByRanges();

        void close();
    }

    private final class ModelInput
            implements ModelReader
    {
        private final CachedFile file;
        private final Random random;
        private final int readsBefore = fixture.input.reads().size();

        ModelInput(CachedFile file, Random random)
        {
            this.file = file;
            this.random = random;
        }

        @Override
        public Range read()
                throws IOException
        {
            int length;
            int position;
            synchronized (random) {
                length = 1 + random.nextInt(random.nextBoolean() ? 100 : 3 * BLOCK);
                position = random.nextInt(4) == 0 ? fixture.bytes.length - length : random.nextInt(fixture.bytes.length - length);
            }
            byte[] bytes = new byte[length];
            if (position == fixture.bytes.length - length) {
                assertThat(file.readTail(bytes, 0, length)).isEqualTo(length);
            }
            else {
                file.readFully(position, bytes, 0, length);
            }
            return new Range(position, bytes);
        }

        @Override
        public boolean readsOriginByRanges()
        {
            return fixture.input.reads().size() > readsBefore;
        }

        @Override
        public void close() {}
    }

    /**
     * Reads windows as a stream of the plugin does.
     */
    private final class ModelStream
            implements ModelReader
    {
        private final CachedFile file;
        private int position;
        private Optional<byte[]> origin = Optional.empty();
        private Optional<PendingReadAhead> pending = Optional.empty();

        ModelStream(CachedFile file)
        {
            this.file = file;
        }

        @Override
        public Range read()
                throws IOException
        {
            byte[] window = new byte[BLOCK];
            int start = position;
            if (origin.isEmpty()) {
                StreamRead read;
                if (pending.isPresent()) {
                    window = pending.get().bytes();
                    read = pending.get().finish();
                }
                else {
                    read = file.readAhead(start, window, 0, BLOCK);
                }
                pending = Optional.empty();
                if (read instanceof StreamRead.Bypassed bypassed) {
                    // one request: what the origin has now
                    origin = Optional.of(fixture.input.snapshot());
                    file.deliverFromOrigin(start, BLOCK, bypassed.cause(), 0, start > 0);
                }
                else if (start % (2 * BLOCK) == 0) {
                    pending = file.beginReadAhead(start + BLOCK, BLOCK, EXECUTOR);
                }
            }
            if (origin.isPresent()) {
                window = Arrays.copyOfRange(origin.get(), start, start + BLOCK);
            }
            position += BLOCK;
            return new Range(start, window);
        }

        @Override
        public boolean readsOriginByRanges()
        {
            return false;
        }

        @Override
        public void close()
        {
            pending.ifPresent(PendingReadAhead::cancel);
        }
    }
}
