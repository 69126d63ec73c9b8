package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * ETags travel and are compared as 64-bit digests; the origin itself gets the text back in {@code If-Match}.
 */
public final class ETags
{
    /**
     * The digest of blocks whose origin told no ETag. Such blocks are only ever joined with each other.
     */
    public static final long NONE = 0;

    private ETags() {}

    public static long digest(String etag)
    {
        long digest = Digest128.sha256(ByteBuffer.wrap(etag.getBytes(UTF_8))).high();
        return digest == NONE ? 1 : digest;
    }
}
