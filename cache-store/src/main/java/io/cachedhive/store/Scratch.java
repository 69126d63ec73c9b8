package io.cachedhive.store;

/**
 * A buffer per thread for checksums of frames.
 */
final class Scratch
{
    private static final ThreadLocal<byte[]> BYTES = ThreadLocal.withInitial(() -> new byte[64 << 10]);

    private Scratch() {}

    static byte[] bytes()
    {
        return BYTES.get();
    }
}
