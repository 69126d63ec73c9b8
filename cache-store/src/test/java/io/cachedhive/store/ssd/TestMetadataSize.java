package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredFile;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.GraphLayout;

import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the metadata of blocks and files take of the heap, as JOL counts it: everything that a directory of the SSD tier has for them, index, policy and
 * extents, in the shapes that Trino writes: 64 files in a partition, names with a query id and a UUID, ETags of an MD5.
 */
class TestMetadataSize
{
    private static final int BLOCK = 1 << 20;
    private static final int MAX_BYTES_PER_BLOCK = 96;
    private static final int MAX_BYTES_PER_FILE = 160;
    private static final BlockTerms TERMS = new BlockTerms(BlockClass.NORMAL, BlockTerms.NEVER);

    static {
        // lambdas and records do not tell where their fields are, and attaching to itself is refused to a process
        System.setProperty("jol.magicFieldOffset", "true");
        System.setProperty("jol.skipDynamicAttach", "true");
        System.setProperty("jol.skipHotspotSAAttach", "true");
    }

    @Test
    void sixteenBlocksInAFile()
    {
        measure(1_000_000, 16);
    }

    @Test
    void oneBlockInAFile()
    {
        measure(200_000, 1);
    }

    private static void measure(int blockCount, int blocksPerFile)
    {
        Random random = new Random(42);
        int fileCount = blockCount / blocksPerFile;
        FileTable files = new FileTable();
        Geometry geometry = Geometry.forCapacity((long) blockCount * 11 / 10 << 20, BLOCK);
        DirectoryContents contents = new DirectoryContents(geometry, files);
        ExtentAllocator allocator = new ExtentAllocator(geometry.sizeClasses(), contents.slabs(), contents.policy(), new ExtentAllocator.Evictor()
        {
            @Override
            public void evict(int entry)
            {
                throw new AssertionError("there is room for all");
            }

            @Override
            public void evictExpired() {}
        });
        allocator.start(false);
        int block = 0;
        for (int i = 0; i < fileCount; i++) {
            FileMetadata metadata = metadata(random, i, blocksPerFile);
            StoredFile file = files.add(metadata.version().id(), metadata);
            for (int j = 0; j < blocksPerFile; j++) {
                Digest128 digest = file.id().block(j).digest();
                ExtentAllocator.Place place = allocator.allocate(Extent.units(BLOCK), true, TERMS.blockClass());
                contents.add(place.slab(), place.extent(), digest, block, BLOCK, file, TERMS);
                block++;
            }
        }
        assertThat(files.size()).isEqualTo(fileCount);
        assertThat(contents.blocks()).isEqualTo(blockCount);
        contents.checkInvariants();

        long fileBytes = bytes(files);
        double bytesPerBlock = (double) (bytes(contents) - fileBytes) / blockCount;
        double bytesPerFile = (double) fileBytes / fileCount;
        System.out.println("%s blocks in a file: %.1f bytes per block with its policy, %.1f bytes per file".formatted(blocksPerFile, bytesPerBlock, bytesPerFile));
        assertThat(bytesPerBlock).isGreaterThan(40).isLessThanOrEqualTo(MAX_BYTES_PER_BLOCK);
        assertThat(bytesPerFile).isGreaterThan(60).isLessThanOrEqualTo(MAX_BYTES_PER_FILE);
    }

    private static long bytes(Object first)
    {
        return GraphLayout.parseInstance(first).totalSize();
    }

    private static FileMetadata metadata(Random random, int number, int blocks)
    {
        byte[] md5 = new byte[16];
        random.nextBytes(md5);
        int partition = number / 64;
        String location = "s3://company-data-lake/warehouse/sales.db/store_sales/ds=2026-%02d-%02d/region=%s/20260101_120000_%05d_abcde_%s".formatted(
                1 + partition % 12,
                1 + partition % 28,
                partition,
                partition,
                new UUID(random.nextLong(), random.nextLong()));
        return new FileMetadata(
                new FileVersion(new OriginId(new Digest128(1, 2)), location, ((long) blocks << 20) - random.nextInt(1 << 20), 1_700_000_000_000L + random.nextInt(1_000_000_000)),
                Optional.of("\"%s\"".formatted(HexFormat.of().formatHex(md5))),
                false,
                "sales.store_sales");
    }
}
