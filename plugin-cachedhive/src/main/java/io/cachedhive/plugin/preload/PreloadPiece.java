package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.ChunkKey;

import java.util.ArrayList;
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
     * Cuts ranges of one file.
     *
     * @param ranges in ascending order, each beyond the one before
     * @param maxBytes of a piece; pieces end at multiples of it, where blocks end too
     */
    static List<PreloadPiece> cut(FileOrigin origin, FileVersion file, List<ByteRange> ranges, long chunkSizeBytes, long maxBytes)
    {
        long locationHash = ChunkKey.locationHash(origin.id(), file.location());
        List<PreloadPiece> pieces = new ArrayList<>();
        for (ByteRange range : ranges) {
            // a split may reach beyond the file
            long end = Math.min(range.end(), file.length());
            long position = range.start();
            while (position < end) {
                long chunkEnd = (position / chunkSizeBytes + 1) * chunkSizeBytes;
                long pieceEnd = Math.min(Math.min(end, chunkEnd), (position / maxBytes + 1) * maxBytes);
                pieces.add(new PreloadPiece(origin, file, ChunkKey.at(locationHash, position, chunkSizeBytes), position, pieceEnd - position));
                position = pieceEnd;
            }
        }
        return pieces;
    }
}
