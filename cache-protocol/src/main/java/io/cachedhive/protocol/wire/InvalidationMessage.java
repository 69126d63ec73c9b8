package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What is no longer true, or no longer wanted.
 */
public sealed interface InvalidationMessage
        extends Message
{
    /**
     * A reader saw two ETags in one file version: the worker asks the origin which of them is true, and drops the file version if
     * its own is not. Answered by {@link Ack} when done.
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
     * A reader found that the origin has other bytes in a range than the worker gave, while the file is the same: the worker drops the file version with all its
     * blocks. Answered by {@link Ack} when it is durable.
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
     * What the worker has of these files is to go, and its bytes are to be overwritten. Answered by {@link Flushed} when that is done; from the moment on when the worker has
     * read it, it tells others of the tombstones, also if the answer is lost.
     */
    record Flush(List<Tombstone> tombstones)
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
            writer.putList(tombstones, WireForms::writeTombstone);
        }

        static Flush read(WireReader reader)
                throws WireException
        {
            return new Flush(reader.getList(WireForms::readTombstone));
        }
    }

    /**
     * @param files file versions of which something went
     * @param problem what could not be overwritten, though it is not served any more; empty if nothing is left
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
     * Asks which tombstones the worker has done. Answered by {@link Tombstones}.
     *
     * @param known exclusive or of the ids of those that the asker has: a worker that has the same answers with none
     * @param after only ids beyond this one, as unsigned numbers; zero for the first
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
     * @param all exclusive or of the ids of all that the worker has done
     * @param tombstones in the order of their ids, at most {@link Flush#MAX_TOMBSTONES}; fewer if there are no more
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
