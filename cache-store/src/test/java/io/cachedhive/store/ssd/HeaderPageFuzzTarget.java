package io.cachedhive.store.ssd;

import io.cachedhive.protocol.ssd.SsdFormat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * The pages that say what a file is: superblock and header of a checkpoint. The first byte says whether the checksums are made right, so that what
 * is behind them is reached, and of which kind the page is.
 */
public final class HeaderPageFuzzTarget
{
    private static final int PAGE = HeaderPage.BYTES;
    private static final String SUPERBLOCK_MAGIC = "CHVSUPER";
    private static final String CHECKPOINT_MAGIC = "CHVPOINT";

    private HeaderPageFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] data)
            throws IOException
    {
        if (data.length == 0) {
            return;
        }
        boolean checkpoint = (data[0] & 1) != 0;
        byte[] bytes = Arrays.copyOfRange(data, 1, data.length);
        if ((data[0] & 2) != 0) {
            bytes = repaired(bytes, checkpoint ? CHECKPOINT_MAGIC : SUPERBLOCK_MAGIC);
        }
        if (checkpoint) {
            Checkpoint.ReadHeader read = Checkpoint.readHeader(new BytesFile(bytes), SsdFormat.CURRENT);
            if (read.header().isPresent() != (read.status() == HeaderPage.Status.VALID)) {
                throw new AssertionError("header and status contradict each other: " + read);
            }
            return;
        }
        Superblock.Read read = Superblock.read(new BytesFile(bytes), SsdFormat.CURRENT);
        if (read.superblock().isEmpty()) {
            read.doubt().orElseThrow();
            return;
        }
        // what is written is read again, and is the newest
        Superblock superblock = read.superblock().get();
        superblock.geometry().sizeClasses();
        if (superblock.update() > Long.MAX_VALUE - 2) {
            return;
        }
        BytesFile file = new BytesFile(bytes);
        Superblock written = superblock.withRun(superblock.run()).writeTo(file);
        Superblock again = Superblock.read(file, SsdFormat.CURRENT).superblock().orElseThrow();
        if (!again.equals(written) || !again.storeId().equals(superblock.storeId()) || again.baseLsn() != superblock.baseLsn()) {
            throw new AssertionError("%s was written and %s read".formatted(written, again));
        }
    }

    /**
     * Whole pages with the right magic and version, and a checksum that verifies.
     */
    private static byte[] repaired(byte[] bytes, String magic)
    {
        int pages = Math.clamp(Math.ceilDiv(bytes.length, PAGE - 16), 1, 2);
        byte[] repaired = new byte[pages * PAGE];
        for (int page = 0; page < pages; page++) {
            ByteBuffer buffer = ByteBuffer.wrap(repaired, page * PAGE, PAGE).slice().order(ByteOrder.LITTLE_ENDIAN);
            buffer.put(0, magic.getBytes(US_ASCII));
            buffer.putInt(8, 1);
            int from = page * (PAGE - 20);
            int length = Math.clamp(bytes.length - from, 0, PAGE - 20);
            // the body's length comes from the input too
            buffer.put(12, bytes, Math.min(from, bytes.length), Math.min(length, PAGE - 16));
            CRC32C checksum = new CRC32C();
            checksum.update(repaired, page * PAGE, PAGE - 4);
            buffer.putInt(PAGE - 4, (int) checksum.getValue());
        }
        return repaired;
    }
}
