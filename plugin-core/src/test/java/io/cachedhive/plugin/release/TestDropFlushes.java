package io.cachedhive.plugin.release;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

import static org.assertj.core.api.Assertions.assertThat;

class TestDropFlushes
{
    private static final WorkerAddress FIRST = new WorkerAddress("127.0.0.1", 1);
    private static final WorkerAddress SECOND = new WorkerAddress("127.0.0.2", 1);
    private static final CompletableFuture<Flushed> DONE = CompletableFuture.completedFuture(new Flushed(1, Optional.empty()));
    private static final CompletableFuture<Flushed> FULL = CompletableFuture.completedFuture(new Flushed(0, Optional.of("it is full")));
    private static final CompletableFuture<Flushed> FAILED = CompletableFuture.failedFuture(new IllegalStateException("it cannot"));

    private final Map<WorkerAddress, PlaceState> places = new LinkedHashMap<>(Map.of(FIRST, PlaceState.ANSWERING, SECOND, PlaceState.ANSWERING));
    private final Map<WorkerAddress, CompletableFuture<Flushed>> answers = new HashMap<>(Map.of(FIRST, DONE, SECOND, DONE));
    private final List<Sent> sent = new ArrayList<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private boolean shutDown;
    private final DropFlushes flushes = new DropFlushes(
            new Tombstones(FileOrigins.of("lake", Map.of("fs.s3.enabled", "true"), false)),
            () -> places.entrySet().stream()
                    .map(place -> new Place(place.getKey(), place.getValue(), Optional.empty(), Optional.empty(), Optional.empty(), 0, Optional.empty(), 0))
                    .toList(),
            (worker, tombstones) -> {
                sent.add(new Sent(worker, List.copyOf(tombstones)));
                return answers.get(worker);
            },
            (_, task) -> {
                if (shutDown) {
                    throw new RejectedExecutionException("shut down");
                }
                tasks.add(task);
            });

    private record Sent(WorkerAddress worker, List<Tombstone> tombstones)
    {
        List<String> locations()
        {
            return tombstones.stream().map(Tombstone::location).toList();
        }
    }

    private void runTask()
    {
        tasks.remove().run();
    }

    @Test
    void testAllCacheWorkersFlush()
    {
        flushes.flushDirectory("s3://lake/a");
        flushes.flushDirectory("s3://lake/b/");
        flushes.flushDirectory("hdfs://not-cached/c");
        assertThat(sent).describedAs("statements do not wait").isEmpty();
        runTask();
        assertThat(sent).extracting(Sent::worker).containsExactlyInAnyOrder(FIRST, SECOND);
        assertThat(sent).allMatch(message -> message.locations().equals(List.of("s3://lake/a/", "s3://lake/b/")));
        assertThat(tasks).describedAs("nothing is left to do").isEmpty();
        assertThat(flushes.unrecorded()).isZero();

        flushes.flushDirectory("s3://lake/a");
        runTask();
        assertThat(sent).hasSize(4).last().extracting(Sent::locations).isEqualTo(List.of("s3://lake/a/"));
        assertThat(sent.get(3).tombstones().getFirst().id()).isNotEqualTo(sent.get(0).tombstones().getFirst().id());
    }

    @Test
    void testWaitsForTheFirstCacheWorker()
    {
        places.replaceAll((_, _) -> PlaceState.GRACE);
        flushes.flushDirectory("s3://lake/a");
        runTask();
        runTask();
        assertThat(sent).isEmpty();
        places.put(SECOND, PlaceState.ANSWERING);
        answers.put(SECOND, FAILED);
        runTask();
        Tombstone first = sent.getFirst().tombstones().getFirst();
        answers.put(SECOND, DONE);
        runTask();
        assertThat(sent).hasSize(2).allMatch(message -> message.worker().equals(SECOND) && message.tombstones().equals(List.of(first)));
        assertThat(tasks).describedAs("the other one learns of it from its peer").isEmpty();
        assertThat(flushes.unrecorded()).isZero();
    }

    @Test
    void testOneRecordIsEnough()
    {
        answers.put(FIRST, FULL);
        flushes.flushDirectory("s3://lake/a");
        runTask();
        answers.put(SECOND, FAILED);
        assertThat(flushes.unrecorded()).isZero();
        flushes.flushDirectory("s3://lake/b");
        flushes.flushDirectory("s3://lake/c");
        runTask();
        assertThat(flushes.unrecorded()).isEqualTo(2);
        assertThat(tasks).isEmpty();
    }

    @Test
    void testDroppedAgainWhileItIsSent()
    {
        CompletableFuture<Flushed> slow = new CompletableFuture<>();
        answers.put(SECOND, slow);
        flushes.flushDirectory("s3://lake/a");
        runTask();
        flushes.flushDirectory("s3://lake/a");
        assertThat(tasks).describedAs("one batch at a time").isEmpty();
        answers.put(SECOND, DONE);
        slow.complete(new Flushed(1, Optional.empty()));
        runTask();
        assertThat(sent).hasSize(4).allMatch(message -> message.locations().equals(List.of("s3://lake/a/")));
        assertThat(sent.stream().map(message -> message.tombstones().getFirst().id()).distinct()).hasSize(2);
        assertThat(tasks).isEmpty();
    }

    @Test
    void testQueueIsBounded()
    {
        for (int i = 0; i < DropFlushes.MAX_WAITING + 10; i++) {
            flushes.flushDirectory("s3://lake/%s".formatted(i));
        }
        assertThat(flushes.unrecorded()).isEqualTo(10);
        places.remove(SECOND);
        while (!tasks.isEmpty()) {
            runTask();
        }
        assertThat(sent).hasSize(DropFlushes.MAX_WAITING / Flush.MAX_TOMBSTONES).allMatch(message -> message.tombstones().size() == Flush.MAX_TOMBSTONES);
        assertThat(sent.stream().flatMap(message -> message.locations().stream()).distinct()).hasSize(DropFlushes.MAX_WAITING);
    }

    @Test
    void testAfterShutdown()
    {
        shutDown = true;
        flushes.flushDirectory("s3://lake/a");
        assertThat(flushes.unrecorded()).isEqualTo(1);
        assertThat(sent).isEmpty();
    }
}
