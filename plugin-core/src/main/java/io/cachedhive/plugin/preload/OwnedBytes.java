package io.cachedhive.plugin.preload;

import io.cachedhive.transport.CachedBlock;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The bytes of a file as its owners have them: for its footers and indexes. Notes what is read, since whoever reads the file reads that as well.
 *
 * <p>Not thread-safe.
 */
public final class OwnedBytes
{
    // a footer may lie across two, and indexes are read in between
    private static final int KEPT_BLOCKS = 3;

    private final PreloadFile file;
    private final Source source;
    private final Map<Long, CachedBlock> kept = new LinkedHashMap<>();
    private final List<ByteRange> read = new ArrayList<>();

    interface Source
    {
        /**
         * The block that has the position, fetched into the cache if it was not there.
         */
        CachedBlock read(PreloadFile file, long position)
                throws IOException;
    }

    public OwnedBytes(PreloadFile file, Source source)
    {
        this.file = requireNonNull(file, "file is null");
        this.source = requireNonNull(source, "source is null");
    }

    /**
     * @throws EOFException if the file ends before
     * @throws IOException if the owner does not have the bytes and cannot fetch them
     */
    public void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        if (position < 0 || position > file.version().length() - length) {
            throw new EOFException("%s has %s bytes, and not %s from %s".formatted(file.version().location(), file.version().length(), length, position));
        }
        read.add(ByteRange.ofLength(position, length));
        int done = 0;
        while (done < length) {
            CachedBlock block = block(position + done);
            int start = (int) (position + done - block.position());
            int count = Math.min(length - done, block.bytes().length - start);
            System.arraycopy(block.bytes(), start, buffer, offset + done, count);
            done += count;
        }
    }

    private CachedBlock block(long position)
            throws IOException
    {
        for (CachedBlock block : kept.values()) {
            if (position >= block.position() && position < block.position() + block.bytes().length) {
                return block;
            }
        }
        CachedBlock block = source.read(file, position);
        if (position < block.position() || position >= block.position() + block.bytes().length) {
            throw new IOException("a cache worker answered with another block of %s than that of %s".formatted(file.version().location(), position));
        }
        if (kept.size() == KEPT_BLOCKS) {
            kept.remove(kept.keySet().iterator().next());
        }
        kept.put(block.position(), block);
        return block;
    }

    /**
     * What was read until now.
     */
    public List<ByteRange> read()
    {
        return List.copyOf(read);
    }
}
