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
 * What is fetched before it is read.
 */
public sealed interface PreloadMessage
        extends Message
{
    /**
     * Fetches what is missing of a range of a file. Answered by {@link Preloaded} when all of it is there or given up, by
     * {@link ReadMessage.BlockNo} if the worker does not take it now, but may later.
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
     * @param problem what went wrong first; empty if nothing did
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
     * What a scan is about to read. The worker fetches as much of it as it thinks right, before it is asked for it. Answered by {@link Ack} when nothing of the list
     * waits any more, whether it was fetched or not; {@link Cancel} ends it sooner.
     *
     * @param scan by which the worker knows the lists of one scan
     * @param files in the order in which they are likely to be read; whole files of at most one block, others are passed over
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
