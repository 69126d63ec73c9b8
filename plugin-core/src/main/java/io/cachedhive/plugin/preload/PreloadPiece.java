package io.cachedhive.plugin.preload;

import com.google.common.collect.AbstractIterator;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.ChunkKey;

import java.util.Iterator;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A range of a file that lies within one chunk, and so has one owner.
 *
 * @param position bytes from the start of the file
 * @param length bytes
 */
record PreloadPiece(FileOrigin origin, FileVersion file, ChunkKey chunk, long position, long length)
{
    PreloadPiece
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(file, "file is null");
        requireNonNull(chunk, "chunk is null");
    }

    /**
     * Cuts ranges of one file, as the pieces are asked for: of a long file there may be very many.
     *
     * @param ranges in ascending order, each beyond the one before
     * @param maxBytes of a piece; pieces end at multiples of it, where blocks end too
     */
    static Iterator<PreloadPiece> cut(FileOrigin origin, FileVersion file, List<ByteRange> ranges, long chunkSizeBytes, long maxBytes)
    {
        long locationHash = ChunkKey.locationHash(origin.id(), file.location());
        Iterator<ByteRange> remaining = ranges.iterator();
        return new AbstractIterator<>()
        {
            private long position;
            private long end;

            @Override
            protected PreloadPiece computeNext()
            {
                while (position >= end) {
                    if (!remaining.hasNext()) {
                        return endOfData();
                    }
                    ByteRange range = remaining.next();
                    position = range.start();
                    // a split may reach beyond the file
                    end = Math.min(range.end(), file.length());
                }
                long start = position;
                long chunkEnd = (start / chunkSizeBytes + 1) * chunkSizeBytes;
                position = Math.min(Math.min(end, chunkEnd), (start / maxBytes + 1) * maxBytes);
                return new PreloadPiece(origin, file, ChunkKey.at(locationHash, start, chunkSizeBytes), start, position - start);
            }
        };
    }
}
