package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.Message.BlockBytes;
import io.cachedhive.protocol.wire.Message.Fetching;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pinned blocks stay under a scan of ten times what the cache worker can hold, and over a restart.
 */
@Timeout(180)
class TestPinnedBlocks
{
    private static final int PINNED_BLOCKS = 40;
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
            StoredFile pinned = lake.putSettled("pinned", PINNED_BLOCKS * BLOCK_SIZE - 5, 1);
            FillTerms terms = new FillTerms(Optional.of(FillClass.PINNED), OptionalLong.empty());
            try (WireClient client = worker.connect()) {
                assertThat(read(client, pinned, terms)).isEqualTo(Map.of(Source.REMOTE, PINNED_BLOCKS));
                while (worker.service().store().gauges().ssdBlocks() < PINNED_BLOCKS) {
                    Thread.onSpinWait();
                }
                long scannedBytes = 0;
                for (int i = 0; scannedBytes < 10 * (RAM_BYTES + SSD_BYTES); i++) {
                    StoredFile scanned = lake.putSettled("scanned-" + i, SCANNED_BLOCKS * BLOCK_SIZE, 2 + i);
                    read(client, scanned, FillTerms.UNSAID);
                    scannedBytes += scanned.bytes().length;
                }
                assertThat(worker.service().store().gauges().ssdEvictions()).describedAs("there was no room for all").isPositive();
                assertHit(read(client, pinned, FillTerms.UNSAID));
            }
            worker.stop();
            worker.start();
            try (WireClient client = worker.connect()) {
                assertHit(read(client, pinned, FillTerms.UNSAID));
                assertThat(worker.service().store().cachedFiles(0, 0, 10_000).orElseThrow())
                        .filteredOn(file -> file.metadata().version().equals(pinned.file()))
                        .allMatch(file -> file.cachedBytes() == pinned.bytes().length && file.bestClass().name().equals("PINNED"))
                        .hasSize(1);
            }
        }
    }

    private static void assertHit(Map<Source, Integer> sources)
    {
        assertThat(sources).doesNotContainKeys(Source.REMOTE, Source.PEER);
        assertThat(sources.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(PINNED_BLOCKS);
    }

    private static Map<Source, Integer> read(WireClient client, StoredFile file, FillTerms terms)
    {
        int count = file.file().blockCount(BLOCK_SIZE);
        Map<Source, Integer> sources = new HashMap<>();
        // few at a time, for the budgets of a small worker
        for (int first = 0; first < count; first += 8) {
            Message.Read read = new Message.Read(0, file.file(), first, Math.min(8, count - first), true, true, false, new RingEpoch(1), "schema.table");
            long request = client.send(terms.equals(FillTerms.UNSAID) ? read : new Message.OnTerms(terms, read));
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
