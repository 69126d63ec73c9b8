package io.cachedhive.protocol.file;

import static java.util.Objects.requireNonNull;

/**
 * Names a block: an aligned range of a file version.
 *
 * <p>Its own 128-bit digest is derived from the file version's by mixing in the index. The file version's digest is cryptographic, so
 * the digests of blocks of two files meet no sooner than those of the files; within a file the mixing is a bijection of the index, so they
 * never meet. That costs 2 ns, where a cryptographic digest of each block would cost more than reading 4 KiB from memory.
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
     * The upper half of a block's digest, without an object per block.
     */
    public static long digestHigh(long fileHigh, int index)
    {
        return fileHigh + mix(index * 0x9E3779B97F4A7C15L + 0x632BE59BD9B4E019L);
    }

    /**
     * The lower half of a block's digest, without an object per block.
     */
    public static long digestLow(long fileLow, int index)
    {
        return fileLow ^ mix(index * 0xD1B54A32D192ED03L + 0x8CB92BA72F3D8DD7L);
    }

    /**
     * Whether the digest is that of one of the first blocks of the file.
     */
    public static boolean isOf(FileVersionId file, int blockCount, Digest128 digest)
    {
        long index = unmixIndex(file, digest.high());
        return index >= 0 && index < blockCount && digestLow(file.digest().low(), (int) index) == digest.low();
    }

    /**
     * The block of the file with the digest.
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
     * The steps of {@link #digestHigh} backwards: what they multiply by is odd, and has an inverse modulo 2^64.
     */
    private static long unmixIndex(FileVersionId file, long digestHigh)
    {
        return (unmix(digestHigh - file.digest().high()) - 0x632BE59BD9B4E019L) * 0xF1DE83E19937733DL;
    }

    // the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): a bijection of 64 bits
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
