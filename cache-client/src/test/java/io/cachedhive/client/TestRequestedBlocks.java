package io.cachedhive.client;

import io.cachedhive.client.counters.HitLog;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

class TestRequestedBlocks
{
    private static final FileVersion FILE = new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://lake/file", 1000, 1);

    private final HitLog hits = new HitLog(800);

    @Test
    void testBlocksOfRanges()
    {
        RequestedBlocks asked = new RequestedBlocks(FILE, hits, () -> OptionalInt.of(100));
        asked.add(250, 200);
        asked.add(449, 1);
        asked.add(0, 100);
        asked.add(100, 0);
        asked.add(100, -1);
        assertThat(hits.drain()).containsExactly(
                FILE.id().block(2).digest(),
                FILE.id().block(3).digest(),
                FILE.id().block(4).digest(),
                FILE.id().block(0).digest());
    }

    /**
     * The worker takes what it hears of for whole blocks: of files with a third of a block it hears of every third one.
     */
    @Test
    void testShortFilesAreNotWholeBlocks()
    {
        int noted = 0;
        for (int i = 0; i < 10_000; i++) {
            FileVersion file = new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://lake/short-" + i, 33, 1);
            RequestedBlocks asked = new RequestedBlocks(file, hits, () -> OptionalInt.of(100));
            asked.add(0, 33);
            List<Digest128> first = hits.drain();
            new RequestedBlocks(file, hits, () -> OptionalInt.of(100)).add(10, 1);
            assertThat(hits.drain()).as("the next time").isEqualTo(first);
            noted += first.size();
        }
        // the same files in each run; the deviation of so many is 47
        assertThat(noted).isBetween(3000, 3600);
    }

    @Test
    void testWithoutWorker()
    {
        new RequestedBlocks(FILE, hits, OptionalInt::empty).add(0, 1000);
        assertThat(hits.drain()).isEmpty();
    }
}
