package io.cachedhive.worker.handover;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PinMessage.PinState;
import io.cachedhive.protocol.wire.PolicyMessage;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pinned blocks stay under a scan of ten times what the cache worker can hold, and over a restart.
 */
@Timeout(180)
@Tag("slow")
class TestPinnedBlocks
{
    private static final int REFERENCED_BLOCKS = 40;
    private static final long RAM_BYTES = 8 << 20;
    private static final long SSD_BYTES = 16 << 20;
    private static final int SCANNED_BLOCKS = 64;

    @Test
    void testStayUnderALargeScan(@TempDir Path directory, @TempDir Path lakeDirectory)
    {
        try (Lake lake = Lake.start(lakeDirectory);
                TestingWorker worker = new TestingWorker(directory)
                        .withOrigin("default", lake.s3().clientProperties())
                        .withRam(RAM_BYTES)
                        .withSsd(SSD_BYTES)
                        .start()) {
            StoredFile pinned = lake.putSettled("pinned", REFERENCED_BLOCKS * BLOCK_SIZE - 5, 1);
            FillTerms terms = new FillTerms(Optional.of(FillClass.PINNED), OptionalLong.empty());
            try (WireClient client = worker.connect()) {
                assertThat(read(client, pinned, terms)).isEqualTo(Map.of(Source.REMOTE, REFERENCED_BLOCKS));
                awaitOnSsd(worker, pinned, terms);
                long scannedBytes = 0;
                for (int i = 0; scannedBytes < 10 * (RAM_BYTES + SSD_BYTES); i++) {
                    StoredFile scanned = lake.putSettled("scanned-" + i, SCANNED_BLOCKS * BLOCK_SIZE, 2 + i);
                    read(client, scanned, FillTerms.UNSPECIFIED);
                    scannedBytes += scanned.bytes().length;
                }
                assertThat(worker.service().store().gauges().ssdEvictions()).describedAs("there was no room for all").isPositive();
                assertHit(read(client, pinned, FillTerms.UNSPECIFIED));
            }
            worker.stop();
            worker.start();
            try (WireClient client = worker.connect()) {
                assertHit(read(client, pinned, FillTerms.UNSPECIFIED));
                assertThat(worker.service().store().contents().cachedFiles(0, 0, 10_000).orElseThrow())
                        .filteredOn(file -> file.metadata().version().equals(pinned.file()))
                        .allMatch(file -> file.cachedBytes() == pinned.bytes().length && file.bestClass().name().equals("PINNED"))
                        .hasSize(1);
            }
        }
    }

    @Test
    void testPinnedByName(@TempDir Path directory, @TempDir Path lakeDirectory)
    {
        try (Lake lake = Lake.start(lakeDirectory);
                TestingFleet fleet = new TestingFleet(directory, lake)) {
            fleet.withRam(RAM_BYTES);
            fleet.withSsd(SSD_BYTES);
            fleet.start("a");
            fleet.start("b");
            fleet.publish("a", "b");
            StoredFile pinned = lake.putSettled("pinned/day=1/file", REFERENCED_BLOCKS * BLOCK_SIZE - 5, 1);
            fleet.scan(pinned);
            // one is told, the other one learns of it
            set(fleet, "a", pin(lake, 1, true));
            Await.until("both know the same pins", () -> pins(fleet, "b", false).equals(pins(fleet, "a", false)));
            // what was there and what comes
            awaitPinned(fleet, pinned.bytes().length);
            List<StoredFile> scanned = new ArrayList<>();
            for (long bytes = 0; bytes < 2 * (RAM_BYTES + SSD_BYTES); bytes += scanned.getLast().bytes().length) {
                scanned.add(lake.putSettled("scanned-" + scanned.size(), SCANNED_BLOCKS * BLOCK_SIZE, 2 + scanned.size()));
                fleet.scan(scanned.getLast());
            }
            assertHit(fleet.scan(pinned));
            assertThat(pinnedBytes(fleet)).isEqualTo(pinned.bytes().length);

            // known after a restart, before others say so
            fleet.stop("b");
            fleet.start("b");
            assertThat(pins(fleet, "b", false)).isEqualTo(pins(fleet, "a", false));
            awaitServing(fleet, "b", pinned);
            scanned.subList(0, 4).forEach(fleet::scan);
            assertHit(fleet.scan(pinned));
            awaitPinned(fleet, pinned.bytes().length);

            // one that was away learns that it is no longer pinned
            fleet.stop("b");
            set(fleet, "a", pin(lake, 2, false));
            fleet.start("b");
            awaitPinned(fleet, 0);
            awaitServing(fleet, "b", pinned);
            assertHit(fleet.scan(pinned));
            for (String worker : List.of("a", "b")) {
                assertThat(fleet.worker(worker).service().store().contents().cachedFiles(0, 0, 10_000).orElseThrow())
                        .filteredOn(file -> file.metadata().version().equals(pinned.file()))
                        .allMatch(file -> file.bestClass().name().equals("NORMAL"));
            }
        }
    }

    /**
     * A rule may pin what was unpinned by name: a restart does not take it back.
     */
    @Test
    void testPinnedByARuleAfterItWasUnpinned(@TempDir Path directory, @TempDir Path lakeDirectory)
    {
        try (Lake lake = Lake.start(lakeDirectory);
                TestingWorker worker = new TestingWorker(directory).withOrigin("default", lake.s3().clientProperties()).withRam(RAM_BYTES).withSsd(SSD_BYTES).start()) {
            StoredFile file = lake.putSettled("pinned/day=1/file", REFERENCED_BLOCKS * BLOCK_SIZE - 5, 1);
            try (WireClient client = worker.connect()) {
                set(client, pin(lake, 1, true));
                set(client, pin(lake, 2, false));
                read(client, file, new FillTerms(Optional.of(FillClass.PINNED), OptionalLong.empty()));
            }
            awaitOnSsd(worker, file, new FillTerms(Optional.of(FillClass.PINNED), OptionalLong.empty()));
            restart(worker, lake);
            assertThat(bestClass(worker, file)).contains("PINNED");
        }
    }

    /**
     * Without the file that says what is pinned, blocks are pinned by what nobody knows of.
     */
    @Test
    void testLostPins(@TempDir Path directory, @TempDir Path lakeDirectory)
            throws IOException
    {
        try (Lake lake = Lake.start(lakeDirectory);
                TestingWorker worker = new TestingWorker(directory).withOrigin("default", lake.s3().clientProperties()).withRam(RAM_BYTES).withSsd(SSD_BYTES).start()) {
            StoredFile file = lake.putSettled("pinned/day=1/file", REFERENCED_BLOCKS * BLOCK_SIZE - 5, 1);
            try (WireClient client = worker.connect()) {
                set(client, pin(lake, 1, true));
                read(client, file, FillTerms.UNSPECIFIED);
            }
            awaitOnSsd(worker, file, FillTerms.UNSPECIFIED);
            restart(worker, lake);
            assertThat(bestClass(worker, file)).contains("PINNED");
            worker.stop();
            try (Stream<Path> files = Files.walk(directory)) {
                Files.delete(getOnlyElement(files.filter(path -> path.endsWith("pins")).toList()));
            }
            restart(worker, lake);
            assertThat(bestClass(worker, file)).contains("NORMAL");
        }
    }

    /**
     * Returns when the worker has done what the run before left.
     */
    private static void restart(TestingWorker worker, Lake lake)
    {
        worker.stop();
        worker.start();
        try (WireClient client = worker.connect()) {
            // what is said later is done later
            Pin other = pin(lake, 3, true);
            set(client, new Pin(other.id(), other.origin(), "s3://%s/other/".formatted(Lake.BUCKET), other.table(), other.partition(), true, other.createdMillis()));
        }
    }

    private static void awaitOnSsd(TestingWorker worker, StoredFile file, FillTerms terms)
    {
        try (WireClient client = worker.connect()) {
            Await.until("all is on SSD", () -> {
                // what came faster than a busy disk took it is written when it is read again
                read(client, file, terms);
                return worker.service().store().gauges().ssdBlocks() >= REFERENCED_BLOCKS;
            });
        }
    }

    private static Optional<String> bestClass(TestingWorker worker, StoredFile file)
    {
        return worker.service().store().contents().cachedFiles(0, 0, 10_000).orElseThrow().stream()
                .filter(found -> found.metadata().version().equals(file.file()))
                .map(found -> found.bestClass().name())
                .findFirst();
    }

    private static void awaitServing(TestingFleet fleet, String worker, StoredFile file)
    {
        // one of its own, since it would keep another one as well
        int block = fleet.ownedBy(worker, file).getFirst();
        Await.until("%s serves".formatted(worker), () -> !fleet.read(worker, file, block).no().equals(Optional.of(NoCause.UNAVAILABLE)));
    }

    private static Pin pin(Lake lake, long id, boolean pinned)
    {
        return new Pin(
                new Digest128(id, 7),
                lake.originId(),
                "s3://%s/pinned/day=1/".formatted(Lake.BUCKET),
                "schema.table",
                Optional.of("day=1"),
                pinned,
                System.currentTimeMillis());
    }

    private static void set(TestingFleet fleet, String worker, Pin pin)
    {
        try (WireClient client = fleet.worker(worker).connect()) {
            set(client, pin);
        }
    }

    private static void set(WireClient client, Pin pin)
    {
        assertThat(client.ask(new PinMessage.SetPins(List.of(pin)))).isEqualTo(new ControlMessage.Ack());
    }

    private static List<PinState> pins(TestingFleet fleet, String worker, boolean usage)
    {
        try (WireClient client = fleet.worker(worker).connect()) {
            return ((PinMessage.Pins) client.ask(new PinMessage.GetPins(new Digest128(0, 0), new Digest128(0, 0), usage))).pins();
        }
    }

    private static long pinnedBytes(TestingFleet fleet)
    {
        return Stream.of("a", "b").flatMap(worker -> pins(fleet, worker, true).stream()).mapToLong(PinState::pinnedBytes).sum();
    }

    private static void awaitPinned(TestingFleet fleet, long bytes)
    {
        Await.untilAsserted("all is pinned", () -> assertThat(pinnedBytes(fleet)).as(() -> Stream.of("a", "b")
                .map(worker -> "%s: %s, %s".formatted(worker, pins(fleet, worker, true), fleet.worker(worker).service().store().gauges()))
                .toList()
                .toString()).isEqualTo(bytes));
    }

    private static void assertHit(Map<Source, Integer> sources)
    {
        assertThat(sources).doesNotContainKeys(Source.REMOTE, Source.PEER);
        assertThat(sources.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(REFERENCED_BLOCKS);
    }

    private static Map<Source, Integer> read(WireClient client, StoredFile file, FillTerms terms)
    {
        int count = file.file().blockCount(BLOCK_SIZE);
        Map<Source, Integer> sources = new HashMap<>();
        // few at a time, for the budgets of a small worker
        for (int first = 0; first < count; first += 8) {
            ReadMessage.Range range = ReadMessage.Range.ofBlocks(first, Math.min(8, count - first));
            ReadMessage.Read read = new ReadMessage.Read(0, file.file(), range, true, true, false, new RingEpoch(1), "schema.table");
            long request = client.send(terms.equals(FillTerms.UNSPECIFIED) ? read : new PolicyMessage.OnTerms(terms, read));
            for (int left = read.blockCount(); left > 0; ) {
                switch (client.await(request)) {
                    case Fetching _ -> {}
                    case BlockBytes bytes -> {
                        assertThat(WireClient.bytes(bytes)).isEqualTo(file.block(bytes.block()));
                        sources.merge(bytes.source(), 1, Integer::sum);
                        left--;
                    }
                    case Message other -> throw new AssertionError("unexpected answer: " + other);
                }
            }
        }
        return sources;
    }
}
