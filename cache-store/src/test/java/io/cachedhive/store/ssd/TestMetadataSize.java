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

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;

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

    /**
     * Lengths of the blocks of a file.
     */
    private interface FileShape
    {
        int[] next(Random random);
    }

    private static FileShape fullBlocks(int count)
    {
        int[] lengths = new int[count];
        Arrays.fill(lengths, BLOCK);
        return _ -> lengths;
    }

    /**
     * Any number of full blocks up to eight, and a last block as likely in each octave of sizes, so that all size classes have many.
     */
    private static int[] shortLastBlock(Random random)
    {
        int[] lengths = new int[1 + random.nextInt(9)];
        Arrays.fill(lengths, BLOCK);
        lengths[lengths.length - 1] = (int) Math.pow(BLOCK, random.nextDouble());
        return lengths;
    }

    @Test
    void sixteenBlocksInAFile()
    {
        measure(Geometry.forCapacity(1_100_000L << 20, BLOCK), 62_500, fullBlocks(16));
    }

    @Test
    void oneBlockInAFile()
    {
        measure(Geometry.forCapacity(220_000L << 20, BLOCK), 200_000, fullBlocks(1));
    }

    /**
     * The slabs of 10 TB, and a tenth of the blocks, which therefore bear ten times their share of what does not depend on their number.
     */
    @Test
    void shortLastBlocksInTenTerabytes()
    {
        Geometry geometry = Geometry.forCapacity(10_000_000_000_000L, BLOCK);
        assertThat(geometry.slabBytes()).isBetween(255L << 20, 1L << 30);
        measure(geometry, 200_000, TestMetadataSize::shortLastBlock);
    }

    @Test
    void slabsHaveTheSameSizeInAllLargeDirectories()
    {
        long bytes = Geometry.forCapacity(10_000_000_000_000L, BLOCK).slabBytes();
        for (long capacity = 140_000_000_000L; capacity < 100_000_000_000_000L; capacity *= 2) {
            Geometry geometry = Geometry.forCapacity(capacity, BLOCK);
            assertThat(geometry.slabBytes()).isEqualTo(bytes);
            assertThat(geometry.slabFileCount()).isBetween(1, 16);
            assertThat(geometry.totalBytes()).isBetween((long) (capacity * 0.97), capacity);
        }
    }

    @Test
    void slabsOfAFileDoNotOverlap()
    {
        for (long capacity : new long[] {4 << 20, 9 << 20, 1L << 30, 1L << 38, 10_000_000_000_000L}) {
            Geometry geometry = Geometry.forCapacity(capacity, 64 << 10);
            int file = 0;
            long end = 0;
            for (int slab = 0; slab < geometry.slabCount(); slab++) {
                if (geometry.slabFile(slab) != file) {
                    assertThat(end).isEqualTo(geometry.slabFileBytes(file));
                    file++;
                    end = 0;
                }
                assertThat(geometry.slabFile(slab)).isEqualTo(file);
                assertThat(geometry.slabOffset(slab)).isEqualTo(end);
                end += geometry.slabBytes();
            }
            assertThat(end).isEqualTo(geometry.slabFileBytes(file));
            assertThat(file + 1).isEqualTo(geometry.slabFileCount());
        }
    }

    private static void measure(Geometry geometry, int fileCount, FileShape shape)
    {
        Random random = new Random(42);
        FileTable files = new FileTable();
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
        int blockCount = 0;
        for (int i = 0; i < fileCount; i++) {
            int[] lengths = shape.next(random);
            FileMetadata metadata = metadata(random, i, IntStream.of(lengths).asLongStream().sum());
            StoredFile file = files.add(metadata.version().id(), metadata);
            for (int j = 0; j < lengths.length; j++) {
                Digest128 digest = file.id().block(j).digest();
                contents.policy().request(digest.high(), digest.low(), geometry.sizeClasses().classFor(Extent.units(lengths[j])), TERMS.blockClass());
                ExtentAllocator.Place place = allocator.allocate(Extent.units(lengths[j]), true, TERMS.blockClass());
                contents.add(place.slab(), place.extent(), digest, blockCount, lengths[j], file, TERMS);
                blockCount++;
            }
        }
        assertThat(files.size()).isEqualTo(fileCount);
        assertThat(contents.blocks()).isEqualTo(blockCount);
        contents.checkInvariants();

        long fileBytes = bytes(files);
        double bytesPerBlock = (double) (bytes(contents) - fileBytes) / blockCount;
        double bytesPerFile = (double) fileBytes / fileCount;
        System.out.println("%s blocks in %s files: %.1f bytes per block with its policy, %.1f bytes per file".formatted(blockCount, fileCount, bytesPerBlock, bytesPerFile));
        assertThat(bytesPerBlock).isGreaterThan(40).isLessThanOrEqualTo(MAX_BYTES_PER_BLOCK);
        assertThat(bytesPerFile).isGreaterThan(60).isLessThanOrEqualTo(MAX_BYTES_PER_FILE);
    }

    private static long bytes(Object first)
    {
        return GraphLayout.parseInstance(first).totalSize();
    }

    private static FileMetadata metadata(Random random, int number, long length)
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
                new FileVersion(new OriginId(new Digest128(1, 2)), location, length, 1_700_000_000_000L + random.nextInt(1_000_000_000)),
                Optional.of("\"%s\"".formatted(HexFormat.of().formatHex(md5))),
                false,
                "sales.store_sales");
    }
}
