package io.cachedhive.store;

/**
 * Memory of each thread by which checksums of frames are made.
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
