package io.cachedhive.store.ssd;

import io.cachedhive.store.encryption.DataCipher;

import java.nio.ByteBuffer;

import static java.util.Objects.requireNonNull;

/**
 * The memory to read or write one extent. A plain block is read into its frame, and only its tail is here. An encrypted
 * one is here as a whole, and AES needs arrays for its full speed.
 *
 * @param bytes aligned for O_DIRECT
 * @param encrypted has room for the largest block and its tag; empty without encryption
 * @param plain has room for the largest block; empty without encryption
 */
record ExtentBuffers(ByteBuffer bytes, byte[] encrypted, byte[] plain)
{
    ExtentBuffers
    {
        requireNonNull(bytes, "bytes is null");
        requireNonNull(encrypted, "encrypted is null");
        requireNonNull(plain, "plain is null");
    }

    /**
     * Creates the pool of one directory.
     *
     * @param directories the number of directories, which share the memory
     */
    static AlignedBuffers pool(int blockSizeBytes, boolean encrypts, int directories)
    {
        return new AlignedBuffers(encrypts ? 3 * blockSizeBytes : Extent.MAX_TAIL_BYTES, directories, () -> allocate(blockSizeBytes, encrypts));
    }

    static ExtentBuffers allocate(int blockSizeBytes, boolean encrypts)
    {
        return encrypts ?
                new ExtentBuffers(
                        AlignedBuffers.allocate(Geometry.largestExtentUnits(blockSizeBytes) * Geometry.UNIT_BYTES),
                        new byte[blockSizeBytes + DataCipher.TAG_BYTES],
                        new byte[blockSizeBytes]) :
                new ExtentBuffers(AlignedBuffers.allocate(Extent.MAX_TAIL_BYTES), new byte[0], new byte[0]);
    }
}
