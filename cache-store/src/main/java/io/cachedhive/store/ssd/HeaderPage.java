package io.cachedhive.store.ssd;

import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * A 4 KiB page that identifies a file.
 *
 * <pre>
 *   0 magic    8 format version    12 body length    16 body ...    4092 CRC32C of the 4092 bytes before
 * </pre>
 * Magic, version and checksum have the same offsets in every version, which distinguishes another version from damage.
 */
final class HeaderPage
{
    static final int BYTES = 4096;

    private static final int VERSION_OFFSET = 8;
    private static final int BODY_LENGTH_OFFSET = 12;
    private static final int BODY_OFFSET = 16;
    private static final int CHECKSUM_OFFSET = BYTES - 4;

    private HeaderPage() {}

    enum Status
    {
        VALID,
        /**
         * All zeros or beyond the end of the file, because it was never written or was erased.
         */
        EMPTY,
        CORRUPT,
        TOO_OLD,
        TOO_NEW,
    }

    /**
     * @param version 0 unless the page is valid
     * @param body empty unless the page is valid
     */
    record Decoded(Status status, int version, Optional<WireReader> body)
    {
        Decoded
        {
            requireNonNull(status, "status is null");
            requireNonNull(body, "body is null");
        }
    }

    static ByteBuffer encode(long magic, int version, WireWriter body)
    {
        int length = body.length();
        ByteBuffer page = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        page.putLong(0, magic);
        page.putInt(VERSION_OFFSET, version);
        page.putInt(BODY_LENGTH_OFFSET, length);
        page.put(BODY_OFFSET, body.finish(), 0, length);
        page.putInt(CHECKSUM_OFFSET, checksum(page));
        return page;
    }

    /**
     * @param oldestVersion oldest version to accept
     * @param newestVersion newest version to accept
     */
    static Decoded decode(ByteBuffer source, long magic, int oldestVersion, int newestVersion)
    {
        if (source.remaining() < BYTES) {
            return new Decoded(source.hasRemaining() ? Status.CORRUPT : Status.EMPTY, 0, Optional.empty());
        }
        ByteBuffer page = source.slice(source.position(), BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (isZero(page)) {
            return new Decoded(Status.EMPTY, 0, Optional.empty());
        }
        if (page.getLong(0) != magic || page.getInt(CHECKSUM_OFFSET) != checksum(page)) {
            return new Decoded(Status.CORRUPT, 0, Optional.empty());
        }
        int found = page.getInt(VERSION_OFFSET);
        if (found < oldestVersion || found > newestVersion) {
            return new Decoded(found > newestVersion ? Status.TOO_NEW : Status.TOO_OLD, 0, Optional.empty());
        }
        int length = page.getInt(BODY_LENGTH_OFFSET);
        if (length < 0 || length > CHECKSUM_OFFSET - BODY_OFFSET) {
            return new Decoded(Status.CORRUPT, 0, Optional.empty());
        }
        return new Decoded(Status.VALID, found, Optional.of(new WireReader(page.slice(BODY_OFFSET, length))));
    }

    private static boolean isZero(ByteBuffer page)
    {
        for (int i = 0; i < BYTES; i += 8) {
            if (page.getLong(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static int checksum(ByteBuffer page)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(page.slice(0, CHECKSUM_OFFSET));
        return (int) checksum.getValue();
    }
}
