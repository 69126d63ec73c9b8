package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Computes the 64-bit digests under which ETags are sent and compared. The origin itself receives the original text in
 * {@code If-Match}.
 */
public final class ETags
{
    /**
     * The digest of blocks for which the origin returned no ETag. Such blocks are only combined with each other.
     */
    public static final long NONE = 0;

    private ETags() {}

    public static long digest(String etag)
    {
        long digest = Digest128.sha256(ByteBuffer.wrap(etag.getBytes(UTF_8))).high();
        return digest == NONE ? 1 : digest;
    }
}
