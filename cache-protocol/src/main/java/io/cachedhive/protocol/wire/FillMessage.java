package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;

import java.nio.ByteBuffer;

/**
 * Blocks whose bytes come from a client.
 */
public sealed interface FillMessage
        extends Message
{
    /**
     * The bytes of a leased block, read by the client through Trino's own file system. Answered by {@link Ack} or {@link Error}.
     *
     * @param observedLength the file's length, asked anew after the bytes were read
     * @param observedLastModifiedMillis likewise
     * @param checksum CRC32C of the payload
     */
    record Fill(long lease, long observedLength, long observedLastModifiedMillis, int checksum, ByteBuffer payload)
            implements FillMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.FILL;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(lease).putLong(observedLength).putLong(observedLastModifiedMillis).putInt(checksum).putRest(payload);
        }

        static Fill read(WireReader reader)
                throws WireException
        {
            return new Fill(reader.getLong(), reader.getLong(), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }

    /**
     * The client gives the lease back without bytes. Not answered.
     */
    record ReleaseLease(long lease)
            implements FillMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.RELEASE_LEASE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(lease);
        }

        static ReleaseLease read(WireReader reader)
                throws WireException
        {
            return new ReleaseLease(reader.getLong());
        }
    }

    /**
     * A block that another worker had, for the worker of the client's host to keep as a guest. Not answered: the worker takes it or not.
     *
     * @param origin the place of the file's origin in {@link Hello#origins}
     * @param etagDigest as the worker that had it told it
     * @param checksum CRC32C of the payload
     */
    record OfferGuest(int origin, FileVersion file, int block, String table, long etagDigest, int checksum, ByteBuffer payload)
            implements FillMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.OFFER_GUEST;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file).putInt(block).putString(table).putLong(etagDigest).putInt(checksum).putRest(payload);
        }

        static OfferGuest read(WireReader reader)
                throws WireException
        {
            return new OfferGuest(reader.getInt(), reader.getFile(), reader.getInt(), reader.getString(), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }
}
