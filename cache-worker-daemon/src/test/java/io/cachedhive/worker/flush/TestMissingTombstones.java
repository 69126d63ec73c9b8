package io.cachedhive.worker.flush;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.TestingWorker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Blocks of an earlier run whose file of tombstones is missing: some of them may have been flushed.
 */
@Timeout(120)
class TestMissingTombstones
{
    private static final FileVersion FILE = new FileVersion(new OriginId(new Digest128(1, 2)), "s3://lake/table/part-0", 1000, 1);
    private static final BlockKey BLOCK = FILE.id().block(0);
    private static final String ETAG = "\"etag\"";

    @TempDir
    private Path directory;

    private static void fill(TestingWorker worker)
    {
        BlockStore store = worker.service().store();
        assertThat(store.bind(FILE, Optional.of(ETAG), false, "schema.table")).isTrue();
        try (Fill fill = store.beginFill(BLOCK, 1000, ETags.digest(ETAG)).orElseThrow()) {
            fill.buffer().put(new byte[1000]);
            fill.commit().orElseThrow().close();
        }
        Await.until("written to SSD", () -> store.gauges().ssdBlocks() == 1);
    }

    private static void restart(TestingWorker worker)
    {
        worker.stop();
        worker.start();
    }

    @Test
    void aWorkerThatLostItsTombstonesStartsEmpty()
            throws Exception
    {
        Path tombstones = directory.resolve("state").resolve("tombstones");
        try (TestingWorker worker = new TestingWorker(directory).withSsd(64 << 20).start()) {
            assertThat(tombstones).describedAs("before the first block can be cached").exists();
            fill(worker);
            restart(worker);
            assertThat(worker.service().store().file(FILE.id())).describedAs("a healthy restart").isPresent();

            worker.stop();
            Files.delete(tombstones);
            worker.start();
            BlockStore store = worker.service().store();
            Await.until("the blocks are gone", () -> store.file(FILE.id()).isEmpty());
            assertThat(store.load(BLOCK)).isEmpty();
            Await.until("there is a file again", () -> Files.exists(tombstones));

            // once is enough
            fill(worker);
            restart(worker);
            assertThat(worker.service().store().file(FILE.id())).isPresent();
        }
    }
}
