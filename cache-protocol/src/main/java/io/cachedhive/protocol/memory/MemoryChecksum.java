package io.cachedhive.protocol.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

/**
 * Checksums of shared memory.
 */
public final class MemoryChecksum
{
    private MemoryChecksum() {}

    /**
     * CRC32C of mapped memory, by way of the heap: the checksum's own instructions over memory that is gone end the process, a copy fails.
     *
     * @param scratch is overwritten; the copies are made in pieces of its length, which should fit into a processor's cache
     */
    public static int crc32c(MemorySegment memory, byte[] scratch)
    {
        CRC32C checksum = new CRC32C();
        for (long offset = 0; offset < memory.byteSize(); offset += scratch.length) {
            int piece = (int) Math.min(scratch.length, memory.byteSize() - offset);
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, scratch, 0, piece);
            checksum.update(scratch, 0, piece);
        }
        return (int) checksum.getValue();
    }
}
