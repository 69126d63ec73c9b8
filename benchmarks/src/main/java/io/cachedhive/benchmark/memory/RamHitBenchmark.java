package io.cachedhive.benchmark.memory;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static io.cachedhive.benchmark.memory.SharedBlocksState.BLOCK_BYTES;

/**
 * What a RAM hit costs beyond copying the bytes. Both benchmarks read the same ranges in the same order: at random in a working set that is
 * larger than the processor's caches.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RamHitBenchmark
{
    private static final long SEED = 483;
    // a power of two; long enough that the order is not learnt
    private static final int POSITION_COUNT = 1 << 12;

    @Param({"4096", "65536", "1048576", "8388608"})
    public int readBytes;

    private SharedBlocks blocks;
    private SharedMemoryReader reader;
    private MemorySegment plain;
    private byte[] target;
    private final BlockInfo info = new BlockInfo();
    private long fileHigh;
    private long fileLow;
    private int pieceBytes;
    private int[] firstBlocks;
    private int[] offsetsInBlock;
    private int next;

    @Setup
    public void setup(SharedBlocksState state, ThreadParams thread)
    {
        blocks = state.blocks();
        reader = blocks.reader();
        plain = blocks.plain();
        fileHigh = blocks.file().digest().high();
        fileLow = blocks.file().digest().low();
        target = new byte[readBytes];
        // a longer read is several blocks, as the client makes it
        pieceBytes = Math.min(readBytes, BLOCK_BYTES);

        // each thread reads elsewhere
        SplittableRandom random = new SplittableRandom(SEED + thread.getThreadIndex());
        int blocksPerRead = readBytes / pieceBytes;
        firstBlocks = new int[POSITION_COUNT];
        offsetsInBlock = new int[POSITION_COUNT];
        for (int i = 0; i < POSITION_COUNT; i++) {
            firstBlocks[i] = random.nextInt(blocks.blockCount() - blocksPerRead + 1);
            // not aligned: readers do not know blocks
            offsetsInBlock[i] = pieceBytes == BLOCK_BYTES ? 0 : random.nextInt(BLOCK_BYTES - pieceBytes + 1);
        }
        // page faults belong to neither
        for (int i = 0; i < blocks.blockCount(); i++) {
            readHit(i, 0);
            readPlain(i, 0, BLOCK_BYTES);
        }
    }

    @Benchmark
    public byte[] hit()
    {
        int position = next++ & (POSITION_COUNT - 1);
        int block = firstBlocks[position];
        for (int offset = 0; offset < readBytes; offset += pieceBytes) {
            readPiece(block++, offsetsInBlock[position], offset);
        }
        return target;
    }

    @Benchmark
    public byte[] copy()
    {
        int position = next++ & (POSITION_COUNT - 1);
        int block = firstBlocks[position];
        for (int offset = 0; offset < readBytes; offset += pieceBytes) {
            MemorySegment.copy(plain, ValueLayout.JAVA_BYTE, blocks.plainOffset(block++) + offsetsInBlock[position], target, offset, pieceBytes);
        }
        return target;
    }

    private void readPiece(int block, int offsetInBlock, int targetOffset)
    {
        int read = reader.read(BlockKey.digestHigh(fileHigh, block), BlockKey.digestLow(fileLow, block), offsetInBlock, target, targetOffset, pieceBytes, info);
        if (read != pieceBytes) {
            throw new IllegalStateException("block %s is not in shared memory".formatted(block));
        }
    }

    private void readHit(int block, int offsetInBlock)
    {
        for (int offset = 0; offset < BLOCK_BYTES; offset += pieceBytes) {
            readPiece(block, offsetInBlock + offset, 0);
        }
    }

    private void readPlain(int block, int offsetInBlock, int length)
    {
        for (int offset = 0; offset < length; offset += pieceBytes) {
            MemorySegment.copy(plain, ValueLayout.JAVA_BYTE, blocks.plainOffset(block) + offsetInBlock + offset, target, 0, pieceBytes);
        }
    }
}
