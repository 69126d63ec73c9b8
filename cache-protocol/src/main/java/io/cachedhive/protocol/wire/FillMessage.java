package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;

import java.nio.ByteBuffer;

/**
 * Messages that carry block bytes from a client to a cache worker.
 */
public sealed interface FillMessage
        extends Message
{
    /**
     * The bytes of a leased block, read through Trino's file system. Answered by {@link Ack} or {@link Error}.
     *
     * @param observedLength the length of the file, checked again after the bytes were read
     * @param observedLastModifiedMillis the last-modified time of the file, checked again after the bytes were read
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
     * Returns a lease without bytes. Not answered.
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
     * Offers a block of another cache worker to the local cache worker, to be kept as a guest block. Not answered,
     * since the worker is free to reject it.
     *
     * @param origin the index of the file's origin in {@link Hello#origins}
     * @param etagDigest the ETag digest that the serving worker returned
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
