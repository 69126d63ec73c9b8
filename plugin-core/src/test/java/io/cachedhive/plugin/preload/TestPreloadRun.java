package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.preload.PieceQueue.Patience;
import io.cachedhive.plugin.table.TableName;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class TestPreloadRun
{
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());
    private static final long MIB = 1 << 20;
    private static final long PIECE = 8 * MIB;
    private static final Patience PATIENCE = new Patience(4, Duration.ofMillis(1), Duration.ofMillis(20), Duration.ofMillis(300));
    private static final Patience LONG_PATIENCE = new Patience(4, Duration.ofMillis(1), Duration.ofMillis(20), Duration.ofMinutes(5));

    private final AtomicReference<Optional<PublishedRing>> ring = new AtomicReference<>(Optional.of(ring("a", "b")));

    private static PublishedRing ring(String... members)
    {
        List<CacheWorkerId> ids = List.of(members).stream().map(CacheWorkerId::new).toList();
        Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
        ids.forEach(id -> addresses.put(id, new WorkerAddress(id.value(), 1)));
        return new PublishedRing(HashRing.of(ids.stream().map(id -> new RingMember(id, 1, Optional.empty())).toList()), addresses, 1);
    }

    private interface Answer
    {
        CompletableFuture<Preloaded> preload(WorkerAddress owner, long position, long length);
    }

    private static Owners owners(Answer answer)
    {
        return new Owners()
        {
            @Override
            public CompletableFuture<Preloaded> preload(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, long length, RingEpoch epoch)
            {
                return answer.preload(owner, position, length);
            }

            @Override
            public CompletableFuture<CachedBlock> readBlock(WorkerAddress owner, FileOrigin origin, FileVersion file, long position, RingEpoch epoch)
            {
                throw new NoClassDefFoundError("a footer is read");
            }
        };
    }

    private static CompletableFuture<Preloaded> loaded(long length)
    {
        return CompletableFuture.completedFuture(new Preloaded(length, 0, 0, Optional.empty()));
    }

    private static CompletableFuture<Preloaded> failed(Reason reason)
    {
        return CompletableFuture.failedFuture(new WorkerException(reason, "it is away"));
    }

    private static List<PreloadFile> files(int count)
    {
        return IntStream.range(0, count)
                .mapToObj(number -> new PreloadFile(
                        new FileOrigin(0, ORIGIN),
                        new FileVersion(ORIGIN, "s3://lake/file" + number, 64 * MIB, 1000),
                        FileFormat.ORC,
                        false,
                        List.of(new ByteRange(0, 64 * MIB))))
                .toList();
    }

    private static PreloadJob job(List<PreloadFile> files)
    {
        return new PreloadJob(
                "job",
                Optional.empty(),
                new TableName("s", "t"),
                Optional.empty(),
                Optional.empty(),
                files.size(),
                files.stream().mapToLong(PreloadFile::splitBytes).sum(),
                Instant.EPOCH);
    }

    private void run(PreloadJob job, List<PreloadFile> files, Optional<WantedColumns> columns, Patience patience, Owners owners)
    {
        run(job, files, columns, OptionalLong.empty(), patience, owners);
    }

    private void run(PreloadJob job, List<PreloadFile> files, Optional<WantedColumns> columns, OptionalLong budget, Patience patience, Owners owners)
    {
        new PreloadRun(owners, ring::get, 16 * MIB, job, new PreloadRun.Load(files, columns, budget, OptionalLong.empty()), Optional::empty, patience).run();
    }

    @Test
    void testBudget()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        AtomicLong bytes = new AtomicLong();
        run(job, files, Optional.empty(), OptionalLong.of(5 * 64 * MIB + 1), PATIENCE, owners((_, _, length) -> {
            bytes.addAndGet(length);
            return loaded(length);
        }));
        assertThat(bytes).hasValue(5 * 64 * MIB);
        PreloadJob.Status status = job.status();
        assertThat(status.state()).isEqualTo(PreloadState.FINISHED);
        assertThat(status.doneBytes()).isEqualTo(5 * 64 * MIB);
        assertThat(status.remainingBytes()).isZero();
        assertThat(status.failedBytes()).isZero();
        assertThat(status.problem()).hasValue("the budget of the schedule is used up: 15 files with up to %s bytes were not loaded".formatted(15 * 64 * MIB));
    }

    @Test
    void testLoadsEverything()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        AtomicInteger pieces = new AtomicInteger();
        run(job, files, Optional.empty(), PATIENCE, owners((_, _, length) -> {
            pieces.incrementAndGet();
            return loaded(length);
        }));
        assertThat(pieces).hasValue(20 * 8);
        assertFinished(job, 20 * 64 * MIB);
    }

    private static void assertFinished(PreloadJob job, long bytes)
    {
        assertThat(job.end()).isCompleted();
        assertThat(job.status().problem()).isEmpty();
        assertThat(job.state()).isEqualTo(PreloadState.FINISHED);
        assertThat(List.of(job.status().doneBytes(), job.status().remainingBytes(), job.status().failedBytes())).isEqualTo(List.of(bytes, 0L, 0L));
    }

    /**
     * One of two owners is away at first, in every way in which it may be.
     */
    @Test
    void testOwnerComesBack()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        AtomicInteger failures = new AtomicInteger();
        List<Reason> reasons = List.of(Reason.UNREACHABLE, Reason.SILENT, Reason.BREAKER_OPEN, Reason.OVERLOADED);
        run(job, files, Optional.empty(), LONG_PATIENCE, owners((owner, _, length) -> {
            if (owner.host().equals("a") && failures.get() < 12) {
                return failed(reasons.get(failures.getAndIncrement() % reasons.size()));
            }
            return loaded(length);
        }));
        assertThat(failures).hasValue(12);
        assertFinished(job, 20 * 64 * MIB);
    }

    @Test
    void testOwnerIsReplaced()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        AtomicInteger failures = new AtomicInteger();
        run(job, files, Optional.empty(), LONG_PATIENCE, owners((owner, _, length) -> {
            if (owner.host().equals("a")) {
                if (failures.incrementAndGet() == 5) {
                    ring.set(Optional.of(ring("b", "c")));
                }
                return failed(Reason.UNREACHABLE);
            }
            return loaded(length);
        }));
        assertThat(failures.get()).isGreaterThanOrEqualTo(5);
        assertFinished(job, 20 * 64 * MIB);
    }

    @Test
    void testOwnerStaysAway()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        List<Long> loaded = Collections.synchronizedList(new ArrayList<>());
        run(job, files, Optional.empty(), PATIENCE, owners((owner, _, length) -> {
            if (owner.host().equals("a")) {
                return failed(Reason.UNREACHABLE);
            }
            loaded.add(length);
            return loaded(length);
        }));
        assertThat(job.state()).isEqualTo(PreloadState.FAILED);
        PreloadJob.Status status = job.status();
        assertThat(status.doneBytes()).isPositive().isEqualTo(loaded.stream().mapToLong(Long::longValue).sum());
        assertThat(status.failedBytes()).isEqualTo(20 * 64 * MIB - status.doneBytes());
        assertThat(status.remainingBytes()).isZero();
        assertThat(status.problem()).hasValueSatisfying(problem -> assertThat(problem).startsWith("the cache worker on a:1 did not load s3://lake/file").endsWith("it is away"));
    }

    /**
     * A refusal stays one, however often it is asked for.
     */
    @Test
    void testRefused()
    {
        List<PreloadFile> files = files(1);
        PreloadJob job = job(files);
        AtomicInteger asked = new AtomicInteger();
        run(job, files, Optional.empty(), LONG_PATIENCE, owners((_, _, _) -> {
            asked.incrementAndGet();
            return failed(Reason.REFUSED);
        }));
        assertThat(asked).hasValue(8);
        assertThat(job.state()).isEqualTo(PreloadState.FAILED);
        assertThat(job.status().failedBytes()).isEqualTo(64 * MIB);
    }

    /**
     * The finders of columns die of an error: the job does not wait for them, nor say that all is there.
     */
    @Test
    void testErrorOfPlanner()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        WantedColumns readers = new WantedColumns()
        {
            @Override
            public boolean isReadWhole(PreloadFile file)
            {
                return false;
            }

            @Override
            public List<ByteRange> find(PreloadFile file, OwnedBytes bytes)
                    throws IOException
            {
                bytes.readFully(file.version().length() - 8, new byte[8], 0, 8);
                return file.whole();
            }
        };
        run(job, files, Optional.of(readers), PATIENCE, owners((_, _, _) -> loaded(MIB)));
        assertThat(job.end()).isCompleted();
        assertThat(job.state()).isEqualTo(PreloadState.FAILED);
        assertThat(job.status().failedBytes()).isEqualTo(20 * 64 * MIB);
        assertThat(job.status().problem()).hasValueSatisfying(problem -> assertThat(problem).contains("could not find the columns in s3://lake/file").contains("a footer is read"));
    }

    @Test
    void testErrorOfSender()
    {
        List<PreloadFile> files = files(20);
        PreloadJob job = job(files);
        run(job, files, Optional.empty(), PATIENCE, owners((_, _, _) -> {
            throw new NoClassDefFoundError("Message");
        }));
        assertThat(job.end()).isCompleted();
        assertThat(job.state()).isEqualTo(PreloadState.FAILED);
        assertThat(job.status().problem()).hasValue("it failed: java.lang.NoClassDefFoundError: Message");
    }

    /**
     * While owners are slow, only so much is planned, and a cancelled job ends though nothing is answered.
     */
    @Test
    void testPlansNoMoreThanIsSent()
            throws Exception
    {
        // as many pieces as are planned, ten times over
        long length = 10 * PreloadRun.MAX_WAITING_PIECES * PIECE;
        List<PreloadFile> files = List.of(new PreloadFile(
                new FileOrigin(0, ORIGIN),
                new FileVersion(ORIGIN, "s3://lake/long", length, 1000),
                FileFormat.ORC,
                false,
                List.of(new ByteRange(0, length))));
        PreloadJob job = job(files);
        List<CompletableFuture<Preloaded>> answers = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch eight = new CountDownLatch(8);
        PreloadRun run = new PreloadRun(
                owners((_, _, _) -> {
                    CompletableFuture<Preloaded> answer = new CompletableFuture<>();
                    answers.add(answer);
                    eight.countDown();
                    return answer;
                }),
                ring::get,
                16 * MIB,
                job,
                new PreloadRun.Load(files, Optional.empty(), OptionalLong.empty(), OptionalLong.empty()),
                Optional::empty,
                PATIENCE);
        Thread runner = Thread.ofPlatform().start(run::run);
        eight.await();
        Await.until("no more pieces may wait", () -> run.waitingPieces() >= PreloadRun.MAX_WAITING_PIECES);
        assertThat(LongStream.range(0, 1000).map(_ -> run.waitingPieces()).max()).hasValue(PreloadRun.MAX_WAITING_PIECES);
        job.cancel("why", Instant.EPOCH);
        runner.join();
        assertThat(job.state()).isEqualTo(PreloadState.CANCELED);
        assertThat(answers).hasSize(8).allMatch(CompletableFuture::isCancelled);
        assertThat(run.waitingPieces()).isZero();
    }
}
