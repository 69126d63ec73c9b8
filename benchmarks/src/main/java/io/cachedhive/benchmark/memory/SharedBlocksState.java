package io.cachedhive.benchmark.memory;

import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.io.IOException;

/**
 * The blocks that all threads of a benchmark read.
 */
@State(Scope.Benchmark)
public class SharedBlocksState
{
    static final int BLOCK_BYTES = 1 << 20;
    private static final long SEED = 483;

    @Param("268435456")
    public long workingSetBytes;

    private SharedBlocks blocks;

    @Setup
    public void setup()
            throws IOException
    {
        blocks = SharedBlocks.create(BLOCK_BYTES, workingSetBytes, SEED);
    }

    @TearDown
    public void tearDown()
    {
        blocks.close();
    }

    SharedBlocks blocks()
    {
        return blocks;
    }
}
