package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Messages that request data before it is read.
 */
public sealed interface PreloadMessage
        extends Message
{
    /**
     * Fetches the missing blocks of a range of a file. Answered by {@link Preloaded} when every block is cached or has
     * failed, or by {@link ReadMessage.BlockNo} if the worker rejects it for now.
     *
     * @param position bytes from the start of the file; widened to whole blocks
     * @param length bytes
     */
    record Preload(int origin, FileVersion file, long position, long length, RingEpoch epoch, String table)
            implements PreloadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.PRELOAD;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file).putLong(position).putLong(length).putLong(epoch.value()).putString(table);
        }

        static Preload read(WireReader reader)
                throws WireException
        {
            return new Preload(reader.getInt(), reader.getFile(), reader.getLong(), reader.getLong(), new RingEpoch(reader.getLong()), reader.getString());
        }
    }

    /**
     * Reports the result of a {@link Preload}.
     *
     * @param problem the first problem; empty if there was none
     */
    record Preloaded(long fetchedBytes, long presentBytes, long failedBytes, Optional<String> problem)
            implements PreloadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.PRELOADED;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(fetchedBytes).putLong(presentBytes).putLong(failedBytes).putOptionalString(problem);
        }

        static Preloaded read(WireReader reader)
                throws WireException
        {
            return new Preloaded(reader.getLong(), reader.getLong(), reader.getLong(), reader.getOptionalString());
        }
    }

    /**
     * Lists the files that a scan is about to read. The worker decides how much of them to fetch in advance. Answered
     * by {@link Ack} when no file of the list is queued any more, fetched or not. {@link Cancel} ends it sooner.
     *
     * @param scan identifies the scan across its lists
     * @param files in the expected order of reads; only files of at most one block, longer ones are skipped
     */
    record FetchAhead(int origin, Digest128 scan, String table, List<FileVersion> files)
            implements PreloadMessage
    {
        public static final int MAX_FILES = 1024;

        public FetchAhead
        {
            requireNonNull(scan, "scan is null");
            requireNonNull(table, "table is null");
            files = WireForms.copyOfAtMost(MAX_FILES, files, "files");
        }

        @Override
        public MessageType type()
        {
            return MessageType.FETCH_AHEAD;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putDigest(scan).putString(table).putList(files, WireWriter::putFile);
        }

        static FetchAhead read(WireReader reader)
                throws WireException
        {
            return new FetchAhead(reader.getInt(), reader.getDigest(), reader.getString(), reader.getList(WireReader::getFile));
        }
    }
}
