package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;

import java.nio.ByteBuffer;

/**
 * Blocks that are read, and the answers for each of them.
 */
public sealed interface ReadMessage
        extends Message
{
    /**
     * Asks for blocks of a file. Each block is answered by one of {@link BlockFrame}, {@link BlockBytes}, {@link BlockLease}, {@link BlockNo};
     * a {@link Fetching} may come before.
     *
     * @param origin the place of the file's origin in {@link Hello#origins}
     * @param inline whether the bytes are wanted in the answer (always over TCP) or a frame in shared memory
     * @param mayFill whether blocks that are missing shall be fetched and kept
     * @param mayLease whether the client is ready to read a block that the worker cannot fetch, and to offer its bytes
     * @param epoch of the ring by which the client chose this worker
     * @param table {@code schema.table}, for the counters and the policy
     */
    record Read(
            int origin,
            FileVersion file,
            int firstBlock,
            int blockCount,
            boolean inline,
            boolean mayFill,
            boolean mayLease,
            RingEpoch epoch,
            String table)
            implements ReadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.READ;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file).putInt(firstBlock).putInt(blockCount)
                    .putBoolean(inline).putBoolean(mayFill).putBoolean(mayLease).putLong(epoch.value()).putString(table);
        }

        static Read read(WireReader reader)
                throws WireException
        {
            return new Read(
                    reader.getInt(),
                    reader.getFile(),
                    reader.getInt(),
                    reader.getInt(),
                    reader.getBoolean(),
                    reader.getBoolean(),
                    reader.getBoolean(),
                    new RingEpoch(reader.getLong()),
                    reader.getString());
        }
    }

    /**
     * Some of the blocks of a read have to come from the origin: the answer will take the origin's time. Sent at most once a read.
     */
    record Fetching()
            implements ReadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.FETCHING;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Fetching read(WireReader reader)
        {
            return new Fetching();
        }
    }

    /**
     * The block is in a frame of shared memory. Valid as long as the frame has this generation: at least 100 ms.
     *
     * @param block its index in the file
     * @param frame the frame's number
     * @param frameOffset bytes from the start of the shared-memory file
     */
    record BlockFrame(int block, Source source, long etagDigest, int length, int frame, long frameOffset, long generation)
            implements ReadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_FRAME;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putByte(source.ordinal()).putLong(etagDigest).putInt(length).putInt(frame).putLong(frameOffset).putLong(generation);
        }

        static BlockFrame read(WireReader reader)
                throws WireException
        {
            return new BlockFrame(reader.getInt(), Source.read(reader), reader.getLong(), reader.getInt(), reader.getInt(), reader.getLong(), reader.getLong());
        }
    }

    /**
     * The block's bytes.
     *
     * @param block its index in the file
     * @param checksum CRC32C of the payload, verified by the client on its own copy
     */
    record BlockBytes(int block, Source source, long etagDigest, int checksum, ByteBuffer payload)
            implements ReadMessage
    {
        /**
         * Bytes of the body before the payload, for senders that gather the payload from where it lies.
         */
        public static final int PREFIX_BYTES = 4 + 1 + 8 + 4;

        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_BYTES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writePrefix(writer);
            writer.putRest(payload);
        }

        private void writePrefix(WireWriter writer)
        {
            writer.putInt(block).putByte(source.ordinal()).putLong(etagDigest).putInt(checksum);
        }

        /**
         * Header and prefix only: to be followed by the payload itself.
         */
        public ByteBuffer toFramePrefix(long requestId)
        {
            WireWriter writer = new WireWriter(FrameHeader.BYTES + PREFIX_BYTES);
            writer.putLong(0).putLong(0);
            writePrefix(writer);
            ByteBuffer prefix = writer.finish();
            new FrameHeader(PREFIX_BYTES + payload.remaining(), type(), requestId).writeTo(prefix.duplicate());
            return prefix;
        }

        static BlockBytes read(WireReader reader)
                throws WireException
        {
            return new BlockBytes(reader.getInt(), Source.read(reader), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }

    /**
     * The worker cannot fetch the block, and this client is the one to read it from the origin: it sends {@link Fill} or {@link ReleaseLease}.
     */
    record BlockLease(int block, long lease)
            implements ReadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_LEASE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putLong(lease);
        }

        static BlockLease read(WireReader reader)
                throws WireException
        {
            return new BlockLease(reader.getInt(), reader.getLong());
        }
    }

    record BlockNo(int block, NoCause cause)
            implements ReadMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_NO;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putByte(cause.ordinal());
        }

        static BlockNo read(WireReader reader)
                throws WireException
        {
            return new BlockNo(reader.getInt(), NoCause.read(reader));
        }
    }
}
