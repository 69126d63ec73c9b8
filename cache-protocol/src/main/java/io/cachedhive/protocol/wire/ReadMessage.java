package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;

import java.nio.ByteBuffer;

/**
 * Messages that read blocks, with one answer per block.
 */
public sealed interface ReadMessage
        extends Message
{
    /**
     * Requests blocks of a file. Each block is answered by one of {@link BlockFrame}, {@link BlockBytes},
     * {@link BlockLease}, {@link BlockNo}. A {@link Fetching} may precede them.
     *
     * @param origin the index of the file's origin in {@link Hello#origins}
     * @param inline whether the answer contains the bytes (always over TCP) instead of a frame in shared memory
     * @param mayFill whether the worker may fetch and keep missing blocks
     * @param mayLease whether the client can read a block that the worker cannot fetch, and offer its bytes
     * @param epoch the epoch of the ring by which the client chose this worker
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
     * Reports that some blocks of a read come from the origin, so that the answer takes as long as the origin. Sent at
     * most once per read.
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
     * Locates a block in a frame of shared memory. Valid while the frame has this generation, which is at least 100 ms.
     *
     * @param block the block's index in the file
     * @param frame the frame number
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
     * Carries the bytes of a block.
     *
     * @param block the block's index in the file
     * @param checksum CRC32C of the payload, which the client verifies on its own copy
     */
    record BlockBytes(int block, Source source, long etagDigest, int checksum, ByteBuffer payload)
            implements ReadMessage
    {
        /**
         * Bytes of the body before the payload, for senders that write the payload from where it is stored.
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
         * Returns the header and prefix only. The sender writes the payload after them.
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
     * Grants a lease for a block that the worker cannot fetch. This client reads it from the origin and sends
     * {@link Fill} or {@link ReleaseLease}.
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
