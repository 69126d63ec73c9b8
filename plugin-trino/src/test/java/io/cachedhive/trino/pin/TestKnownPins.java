package io.cachedhive.trino.pin;

import io.cachedhive.plugin.pin.KnownPins;
import io.cachedhive.plugin.pin.PinnedPlace;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.PinMessage.PinState;
import io.cachedhive.transport.WorkerException;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

class TestKnownPins
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));
    private static final OriginId OTHER = new OriginId(new Digest128(3, 4));
    private static final WorkerAddress ONE = new WorkerAddress("one", 1);
    private static final WorkerAddress TWO = new WorkerAddress("two", 1);
    private static final WorkerAddress SILENT = new WorkerAddress("silent", 1);

    private static Pin pin(long id, OriginId origin, String location, boolean pinned)
    {
        return new Pin(new Digest128(id, id), origin, location, "sales.orders", Optional.of("day=1"), pinned, 1000 + id);
    }

    @Test
    void testAddsUpWhatWorkersSay()
    {
        Map<WorkerAddress, CompletableFuture<List<PinState>>> answers = new LinkedHashMap<>();
        answers.put(ONE, CompletableFuture.completedFuture(List.of(
                new PinState(pin(1, ORIGIN, "s3://lake/a/", true), 10, 5),
                new PinState(pin(2, OTHER, "s3://lake/a/", true), 10, 5),
                new PinState(pin(3, ORIGIN, "s3://lake/b/", false), 10, 0))));
        answers.put(TWO, CompletableFuture.completedFuture(List.of(new PinState(pin(4, ORIGIN, "s3://lake/a/", true), 100, 50))));
        KnownPins known = KnownPins.of(answers, Set.of(ORIGIN));
        assertThat(known.problems()).isEmpty();
        assertThat(known.places().values()).containsExactlyInAnyOrder(
                new PinnedPlace(pin(4, ORIGIN, "s3://lake/a/", true), 110, 55),
                new PinnedPlace(pin(3, ORIGIN, "s3://lake/b/", false), 10, 0));
        assertThat(known.nextCreatedMillis()).isGreaterThan(1004);
        assertThat(PinsTable.rows(known)).singleElement().satisfies(row -> {
            assertThat(row.table().orElseThrow()).hasToString("sales.orders");
            assertThat(row.problem()).isEmpty();
        });
    }

    /**
     * Who sums up what is pinned has to see that somebody's share is missing.
     */
    @Test
    void testWorkerThatSaysNothing()
    {
        Map<WorkerAddress, CompletableFuture<List<PinState>>> answers = new LinkedHashMap<>();
        answers.put(SILENT, CompletableFuture.<List<PinState>>failedFuture(new WorkerException(WorkerException.Reason.SILENT, "it did not answer within 10000 ms"))
                .thenApply(List::copyOf));
        answers.put(ONE, CompletableFuture.completedFuture(List.of(new PinState(pin(1, ORIGIN, "s3://lake/a/", true), 10, 5))));
        KnownPins known = KnownPins.of(answers, Set.of(ORIGIN));
        assertThat(known.places()).hasSize(1);
        List<PinsTable.Row> rows = PinsTable.rows(known);
        assertThat(rows).hasSize(2);
        assertThat(rows.getFirst().place()).contains(new PinnedPlace(pin(1, ORIGIN, "s3://lake/a/", true), 10, 5));
        assertThat(rows.getLast().table()).isEmpty();
        assertThat(rows.getLast().problem().orElseThrow())
                .startsWith("cache worker silent:1 did not report its pinned blocks")
                .endsWith("it did not answer within 10000 ms");
    }
}
