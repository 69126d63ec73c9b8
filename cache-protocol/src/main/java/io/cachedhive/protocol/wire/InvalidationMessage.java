package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Messages that remove cached data.
 */
public sealed interface InvalidationMessage
        extends Message
{
    /**
     * Reports that a reader saw two ETags in one file version. The worker asks the origin for the current one and drops
     * the file version if its own differs. Answered by {@link Ack} when done.
     */
    record Revalidate(int origin, FileVersion file)
            implements InvalidationMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.REVALIDATE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file);
        }

        static Revalidate read(WireReader reader)
                throws WireException
        {
            return new Revalidate(reader.getInt(), reader.getFile());
        }
    }

    /**
     * Reports that a reader received other bytes from the worker than from the origin, although the file is unchanged.
     * The worker drops the file version with all its blocks. Answered by {@link Ack} when the drop is durable.
     *
     * @param position bytes from the start of the file
     * @param length bytes
     */
    record Quarantine(int origin, FileVersion file, long position, long length)
            implements InvalidationMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.QUARANTINE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file).putLong(position).putLong(length);
        }

        static Quarantine read(WireReader reader)
                throws WireException
        {
            return new Quarantine(reader.getInt(), reader.getFile(), reader.getLong(), reader.getLong());
        }
    }

    /**
     * Reports files that were removed from the origin, so that the space of their blocks is free for other files. The
     * worker drops every version that it has of them now. Answered by {@link Ack} when done; the worker neither records
     * nor forwards the message.
     *
     * @param locations each a whole location, or a prefix if it ends in {@code /}
     */
    record ReleaseFiles(int origin, List<String> locations)
            implements InvalidationMessage
    {
        public static final int MAX_LOCATIONS = 1024;

        public ReleaseFiles
        {
            locations = WireForms.copyOfAtMost(MAX_LOCATIONS, locations, "locations");
        }

        @Override
        public MessageType type()
        {
            return MessageType.RELEASE_FILES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putList(locations, WireWriter::putString);
        }

        static ReleaseFiles read(WireReader reader)
                throws WireException
        {
            return new ReleaseFiles(reader.getInt(), reader.getList(WireReader::getString));
        }
    }

    /**
     * Removes these files from the cache, durably. Answered by {@link Flushed} when done. As soon as the worker has read
     * the message, it forwards the tombstones to its peers, even if the answer is lost.
     *
     * @param requested whether a user requested the flush; false if a statement removed the files. A worker refuses the
     * latter, with a problem in {@link Flushed}, when it has no room for more than requested flushes
     */
    record Flush(List<Tombstone> tombstones, boolean requested)
            implements InvalidationMessage
    {
        public static final int MAX_TOMBSTONES = 1024;

        public Flush
        {
            tombstones = WireForms.copyOfAtMost(MAX_TOMBSTONES, tombstones, "tombstones");
        }

        @Override
        public MessageType type()
        {
            return MessageType.FLUSH;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(tombstones, WireForms::writeTombstone).putBoolean(requested);
        }

        static Flush read(WireReader reader)
                throws WireException
        {
            return new Flush(reader.getList(WireForms::readTombstone), reader.getBoolean());
        }
    }

    /**
     * Reports the result of a {@link Flush}.
     *
     * @param files the number of file versions of which blocks were removed
     * @param problem why the flush may be lost in a crash, although the blocks are no longer served; empty if it is durable
     */
    record Flushed(long files, Optional<String> problem)
            implements InvalidationMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.FLUSHED;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(files).putOptionalString(problem);
        }

        static Flushed read(WireReader reader)
                throws WireException
        {
            return new Flushed(reader.getLong(), reader.getOptionalString());
        }
    }

    /**
     * Asks which tombstones the worker has applied. Answered by {@link Tombstones}.
     *
     * @param known the XOR of the ids that the requester has; a worker with the same XOR returns no tombstones
     * @param after only tombstones with a greater id, compared as unsigned numbers; zero for the first request
     */
    record GetTombstones(Digest128 known, Digest128 after)
            implements InvalidationMessage
    {
        public GetTombstones
        {
            requireNonNull(known, "known is null");
            requireNonNull(after, "after is null");
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_TOMBSTONES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(known).putDigest(after);
        }

        static GetTombstones read(WireReader reader)
                throws WireException
        {
            return new GetTombstones(reader.getDigest(), reader.getDigest());
        }
    }

    /**
     * Lists tombstones that the worker has applied.
     *
     * @param all the XOR of the ids of all applied tombstones
     * @param tombstones sorted by id, at most {@link Flush#MAX_TOMBSTONES}; fewer if there are no more
     */
    record Tombstones(Digest128 all, List<Tombstone> tombstones)
            implements InvalidationMessage
    {
        public Tombstones
        {
            requireNonNull(all, "all is null");
            tombstones = List.copyOf(tombstones);
        }

        @Override
        public MessageType type()
        {
            return MessageType.TOMBSTONES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(all).putList(tombstones, WireForms::writeTombstone);
        }

        static Tombstones read(WireReader reader)
                throws WireException
        {
            return new Tombstones(reader.getDigest(), reader.getList(WireForms::readTombstone));
        }
    }
}
