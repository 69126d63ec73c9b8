package io.cachedhive.plugin.release;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class TestFileReleases
{
    private static final WorkerAddress FIRST = new WorkerAddress("127.0.0.1", 1);
    private static final WorkerAddress SECOND = new WorkerAddress("127.0.0.2", 1);

    private final Map<WorkerAddress, PlaceState> places = new LinkedHashMap<>(Map.of(FIRST, PlaceState.ANSWERING, SECOND, PlaceState.ANSWERING));
    private final Set<WorkerAddress> hanging = new HashSet<>();
    private final Set<WorkerAddress> failing = new HashSet<>();
    private final List<Sent> sent = new ArrayList<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<Long> delays = new ArrayList<>();
    private boolean shutDown;
    private FileReleases releases;

    private record Sent(WorkerAddress worker, int origin, List<String> locations) {}

    @BeforeEach
    void create()
    {
        releases = new FileReleases(
                FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "fs.hadoop.enabled", "true"), false),
                () -> places.entrySet().stream()
                        .map(place -> new Place(place.getKey(), place.getValue(), Optional.empty(), Optional.empty(), Optional.empty(), 0, Optional.empty(), 0))
                        .toList(),
                (worker, origin, locations) -> {
                    sent.add(new Sent(worker, origin, List.copyOf(locations)));
                    if (failing.contains(worker)) {
                        return CompletableFuture.failedFuture(new IllegalStateException("it cannot"));
                    }
                    return hanging.contains(worker) ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
                },
                (millis, task) -> {
                    if (shutDown) {
                        throw new RejectedExecutionException("shut down");
                    }
                    delays.add(millis);
                    tasks.add(task);
                });
    }

    private void runTasks()
    {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private List<String> sentTo(WorkerAddress worker)
    {
        return sent.stream().filter(message -> message.worker().equals(worker)).map(Sent::locations).flatMap(Collection::stream).toList();
    }

    private static List<String> files(int count)
    {
        return IntStream.range(0, count).mapToObj(number -> "s3://lake/t/" + number).toList();
    }

    @Test
    void everyLiveCacheWorkerIsNotified()
    {
        places.put(SECOND, PlaceState.GRACE);
        releases.releaseFile("s3://lake/t/a");
        releases.releaseDirectory("s3://lake/t/p=1");
        releases.releaseDirectory("s3://lake/t/p=2/");
        releases.releaseFile("s3://lake/t/a");
        // the statement's own thread sends nothing
        assertThat(sent).isEmpty();
        runTasks();
        assertThat(sent).containsExactlyInAnyOrder(
                new Sent(FIRST, 0, List.of("s3://lake/t/a", "s3://lake/t/p=1/", "s3://lake/t/p=2/")),
                new Sent(SECOND, 0, List.of("s3://lake/t/a", "s3://lake/t/p=1/", "s3://lake/t/p=2/")));
        assertThat(releases.dropped()).isZero();
    }

    @Test
    void filesOfEachOriginGoInMessagesOfTheirOwn()
    {
        places.remove(SECOND);
        releases.releaseFiles(List.of("s3://lake/t/a", "hdfs://host/t/b", "file:/t/c", "/t/d", "s3a://lake/t/e"));
        runTasks();
        assertThat(sent).containsExactly(new Sent(FIRST, 0, List.of("s3://lake/t/a", "s3a://lake/t/e")), new Sent(FIRST, 1, List.of("hdfs://host/t/b")));
    }

    @Test
    void oneThatHangsDelaysNoOther()
    {
        hanging.add(FIRST);
        releases.releaseFile("s3://lake/t/a");
        runTasks();
        releases.releaseFile("s3://lake/t/b");
        runTasks();
        assertThat(sentTo(FIRST)).containsExactly("s3://lake/t/a");
        assertThat(sentTo(SECOND)).containsExactly("s3://lake/t/a", "s3://lake/t/b");
        // what waits for it is bounded, and the rest is counted
        releases.releaseFiles(files(FileReleases.MAX_WAITING));
        runTasks();
        assertThat(releases.dropped()).isEqualTo(1);
        assertThat(sentTo(SECOND)).hasSize(FileReleases.MAX_WAITING + 2);
    }

    @Test
    void statementsAddNoMoreThanIsSent()
    {
        releases.releaseFiles(files(FileReleases.MAX_WAITING + 3));
        assertThat(tasks).hasSize(1);
        assertThat(releases.dropped()).isEqualTo(3);
        runTasks();
        assertThat(sentTo(FIRST)).hasSize(FileReleases.MAX_WAITING);
        assertThat(sent).allSatisfy(message -> assertThat(message.locations()).hasSizeLessThanOrEqualTo(ReleaseFiles.MAX_LOCATIONS));
    }

    @Test
    void triesAFewTimesAndGivesUp()
    {
        failing.add(SECOND);
        releases.releaseFiles(files(2));
        runTasks();
        assertThat(sent.stream().filter(message -> message.worker().equals(SECOND))).hasSize(FileReleases.MAX_ATTEMPTS);
        assertThat(delays).contains(1000L, 2000L, 4000L, 8000L);
        assertThat(releases.dropped()).isEqualTo(2);
        failing.clear();
        releases.releaseFile("s3://lake/t/later");
        runTasks();
        assertThat(sentTo(SECOND)).endsWith("s3://lake/t/later");
        assertThat(sentTo(FIRST)).containsExactly("s3://lake/t/0", "s3://lake/t/1", "s3://lake/t/later");
        assertThat(releases.dropped()).isEqualTo(2);
    }

    @Test
    void doesNotTryOneThatIsGone()
    {
        places.put(FIRST, PlaceState.DEAD);
        places.put(SECOND, PlaceState.UNSEEN);
        releases.releaseFile("s3://lake/t/a");
        runTasks();
        assertThat(sent).isEmpty();
        assertThat(releases.dropped()).isEqualTo(1);
    }

    @Test
    void failsNoStatementAfterTheEnd()
    {
        releases.releaseFile("s3://lake/t/a");
        shutDown = true;
        releases.releaseFile("s3://lake/t/b");
        runTasks();
        releases.releaseFile("s3://lake/t/c");
        assertThat(sentTo(FIRST)).containsExactly("s3://lake/t/a", "s3://lake/t/b");
    }
}
