package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.ChunkKey;
import io.trino.plugin.hive.HiveSplit;

import java.util.ArrayList;
import java.util.Comparator;
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
     * Cuts what the splits of one file cover.
     *
     * @param maxBytes of a piece; a divisor of the chunk size, so that pieces begin where blocks begin
     */
    static List<PreloadPiece> cut(FileOrigin origin, FileVersion file, List<HiveSplit> splits, long chunkSizeBytes, long maxBytes)
    {
        long locationHash = ChunkKey.locationHash(origin.id(), file.location());
        List<PreloadPiece> pieces = new ArrayList<>();
        long covered = 0;
        for (HiveSplit split : splits.stream().sorted(Comparator.comparingLong(HiveSplit::getStart)).toList()) {
            // a listing may know the file longer than the split thinks, never shorter
            long end = Math.min(split.getStart() + split.getLength(), file.length());
            long position = Math.max(split.getStart(), covered);
            while (position < end) {
                long pieceEnd = Math.min(end, (position / maxBytes + 1) * maxBytes);
                pieces.add(new PreloadPiece(origin, file, ChunkKey.at(locationHash, position, chunkSizeBytes), position, pieceEnd - position));
                position = pieceEnd;
            }
            covered = Math.max(covered, end);
        }
        return pieces;
    }
}
