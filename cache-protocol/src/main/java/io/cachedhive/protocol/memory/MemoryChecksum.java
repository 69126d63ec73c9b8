package io.cachedhive.protocol.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32C;

public final class MemoryChecksum
{
    private MemoryChecksum() {}

    /**
     * Computes the CRC32C of mapped memory through copies on the heap. If the mapping becomes invalid, the checksum
     * intrinsic would crash the JVM, while a copy throws an error.
     *
     * @param scratch a buffer for the copies; its length should fit into a processor cache
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
