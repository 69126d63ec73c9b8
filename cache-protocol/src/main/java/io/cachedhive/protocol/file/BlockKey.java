package io.cachedhive.protocol.file;

import static java.util.Objects.requireNonNull;

/**
 * Identifies a block: an aligned range of a file version.
 *
 * <p>The 128-bit digest of a block is the digest of its file version mixed with the block index. The digest of the file
 * version is cryptographic, so blocks of two files collide no sooner than the files do. Within a file the mixing is a
 * bijection of the index, so its blocks never collide. The mixing takes 2 ns; a cryptographic digest per block would
 * cost more than reading 4 KiB from memory.
 *
 * @param index 0-based
 */
public record BlockKey(FileVersionId file, int index)
{
    public BlockKey
    {
        requireNonNull(file, "file is null");
        if (index < 0) {
            throw new IllegalArgumentException("index is negative: " + index);
        }
    }

    public long high()
    {
        return digestHigh(file.digest().high(), index);
    }

    public long low()
    {
        return digestLow(file.digest().low(), index);
    }

    public Digest128 digest()
    {
        return new Digest128(high(), low());
    }

    /**
     * Returns the upper half of a block's digest without allocating an object.
     */
    public static long digestHigh(long fileHigh, int index)
    {
        return fileHigh + mix(index * 0x9E3779B97F4A7C15L + 0x632BE59BD9B4E019L);
    }

    /**
     * Returns the lower half of a block's digest without allocating an object.
     */
    public static long digestLow(long fileLow, int index)
    {
        return fileLow ^ mix(index * 0xD1B54A32D192ED03L + 0x8CB92BA72F3D8DD7L);
    }

    /**
     * Returns whether the digest belongs to one of the first {@code blockCount} blocks of the file.
     */
    public static boolean isOf(FileVersionId file, int blockCount, Digest128 digest)
    {
        long index = unmixIndex(file, digest.high());
        return index >= 0 && index < blockCount && digestLow(file.digest().low(), (int) index) == digest.low();
    }

    /**
     * Returns the block of the file that has the digest.
     *
     * @throws IllegalArgumentException if the file has no such block
     */
    public static BlockKey of(FileVersionId file, Digest128 digest)
    {
        if (!isOf(file, Integer.MAX_VALUE, digest)) {
            throw new IllegalArgumentException("digest %s is not that of a block of file %s".formatted(digest, file));
        }
        return new BlockKey(file, (int) unmixIndex(file, digest.high()));
    }

    /**
     * Inverts {@link #digestHigh}. Its multipliers are odd and therefore have an inverse modulo 2^64.
     */
    private static long unmixIndex(FileVersionId file, long digestHigh)
    {
        return (unmix(digestHigh - file.digest().high()) - 0x632BE59BD9B4E019L) * 0xF1DE83E19937733DL;
    }

    // SplitMix64's finalizer, a bijection (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014)
    private static long mix(long value)
    {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    private static long unmix(long value)
    {
        long z = (value ^ (value >>> 31) ^ (value >>> 62)) * 0x319642B2D24D8EC3L;
        z = (z ^ (z >>> 27) ^ (z >>> 54)) * 0x96DE1B173F119089L;
        return z ^ (z >>> 30) ^ (z >>> 60);
    }
}
