package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;

import java.nio.ByteBuffer;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Messages that read blocks, with one answer per block.
 */
public sealed interface ReadMessage
        extends Message
{
    /**
     * Adjacent blocks, of which the first and the last may be requested in part.
     *
     * @param skip bytes at the start of the first block that are not requested
     * @param omit bytes at the end of the last block that are not requested
     */
    record Range(int firstBlock, int blockCount, int skip, int omit)
    {
        public static Range ofBlocks(int firstBlock, int blockCount)
        {
            return new Range(firstBlock, blockCount, 0, 0);
        }

        /**
         * Returns the offset of the requested bytes in one of the blocks.
         */
        public int offset(int block)
        {
            return block == firstBlock ? skip : 0;
        }

        /**
         * Returns the number of requested bytes of one of the blocks.
         */
        public int length(int block, int blockLength)
        {
            return blockLength - offset(block) - (block == firstBlock + blockCount - 1 ? omit : 0);
        }

        private void writeTo(WireWriter writer)
        {
            writer.putInt(firstBlock).putInt(blockCount).putInt(skip).putInt(omit);
        }

        private static Range read(WireReader reader)
                throws WireException
        {
            return new Range(reader.getInt(), reader.getInt(), reader.getInt(), reader.getInt());
        }
    }

    /**
     * Requests blocks of a file. Each block is answered by one of {@link BlockFrame}, {@link BlockBytes},
     * {@link BlockLease}, {@link BlockNo}. A {@link Fetching} may precede them.
     *
     * @param origin the index of the file's origin in {@link Hello#origins}
     * @param range the blocks, and the bytes of them that the answer contains if it contains bytes
     * @param inline whether the answer contains the bytes (always over TCP) instead of a frame in shared memory
     * @param mayFill whether the worker may fetch and keep missing blocks
     * @param mayLease whether the client can read a block that the worker cannot fetch, and offer its bytes
     * @param epoch the epoch of the ring by which the client chose this worker
     * @param table {@code schema.table}, for the counters and the policy
     */
    record Read(
            int origin,
            FileVersion file,
            Range range,
            boolean inline,
            boolean mayFill,
            boolean mayLease,
            RingEpoch epoch,
            String table)
            implements ReadMessage
    {
        public Read
        {
            requireNonNull(range, "range is null");
        }

        public int firstBlock()
        {
            return range.firstBlock();
        }

        public int blockCount()
        {
            return range.blockCount();
        }

        @Override
        public MessageType type()
        {
            return MessageType.READ;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin).putFile(file);
            range.writeTo(writer);
            writer.putBoolean(inline).putBoolean(mayFill).putBoolean(mayLease).putLong(epoch.value()).putString(table);
        }

        static Read read(WireReader reader)
                throws WireException
        {
            return new Read(
                    reader.getInt(),
                    reader.getFile(),
                    Range.read(reader),
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
     * Carries the requested bytes of a block.
     *
     * @param block the block's index in the file
     * @param checksums which bytes of the block they are, and their checksums, which the client verifies on its own copy
     */
    record BlockBytes(int block, Source source, long etagDigest, PieceChecksums checksums, ByteBuffer payload)
            implements ReadMessage
    {
        /**
         * Bytes of the body before the checksums.
         */
        private static final int FIXED_BYTES = 4 + 1 + 8 + 4 + 4;
        // of a block of the largest size, so that no other value can overflow
        private static final int MAX_BLOCK_BYTES = 8 << 20;

        public BlockBytes
        {
            requireNonNull(source, "source is null");
            requireNonNull(checksums, "checksums is null");
            requireNonNull(payload, "payload is null");
        }

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
            writer.putInt(block).putByte(source.ordinal()).putLong(etagDigest).putInt(checksums.offset()).putInt(checksums.length());
            for (int part = 0; part < checksums.count(); part++) {
                writer.putInt(checksums.value(part));
            }
        }

        /**
         * Returns the maximum length of a body with a payload of this length.
         */
        public static int maxBodyBytes(int payloadBytes)
        {
            // a range that begins right before a boundary has the most parts
            return FIXED_BYTES + Integer.BYTES * PieceChecksums.count(PieceChecksums.PIECE_BYTES - 1, payloadBytes) + payloadBytes;
        }

        /**
         * Returns the header and everything before the payload, which the sender writes after them from where it is
         * stored.
         */
        public ByteBuffer toFramePrefix(long requestId)
        {
            int prefixBytes = FIXED_BYTES + Integer.BYTES * checksums.count();
            WireWriter writer = new WireWriter(FrameHeader.BYTES + prefixBytes);
            writer.putLong(0).putLong(0);
            writePrefix(writer);
            ByteBuffer prefix = writer.finish();
            new FrameHeader(prefixBytes + payload.remaining(), type(), requestId).writeTo(prefix.duplicate());
            return prefix;
        }

        /**
         * Reads everything before the payload, for receivers that take the payload as it arrives.
         *
         * @param received the first received bytes of the body; the position is that of the payload afterwards
         * @param bodyLength the length of the whole body
         * @return the message with an empty payload; empty if not all bytes before the payload are there, and the
         * position is undefined then
         */
        public static Optional<BlockBytes> readPrefix(ByteBuffer received, int bodyLength)
                throws WireException
        {
            if (bodyLength < FIXED_BYTES) {
                throw new WireException("body of a %s frame has less than %s bytes: %s".formatted(MessageType.BLOCK_BYTES, FIXED_BYTES, bodyLength));
            }
            if (received.remaining() < FIXED_BYTES) {
                return Optional.empty();
            }
            WireReader reader = new WireReader(received);
            int block = reader.getInt();
            Source source = Source.read(reader);
            long etagDigest = reader.getLong();
            int offset = reader.getInt();
            int length = reader.getInt();
            if (offset < 0 || length < 0 || offset > MAX_BLOCK_BYTES - length) {
                throw new WireException("not a range of a block: %s bytes at %s".formatted(length, offset));
            }
            int[] values = new int[PieceChecksums.count(offset, length)];
            if (bodyLength != FIXED_BYTES + Integer.BYTES * values.length + length) {
                throw new WireException("body of %s bytes does not have %s bytes and %s checksums".formatted(bodyLength, length, values.length));
            }
            if (reader.remaining() < Integer.BYTES * values.length) {
                return Optional.empty();
            }
            for (int part = 0; part < values.length; part++) {
                values[part] = reader.getInt();
            }
            return Optional.of(new BlockBytes(block, source, etagDigest, new PieceChecksums(offset, length, values), ByteBuffer.allocate(0)));
        }

        static BlockBytes read(ByteBuffer body)
                throws WireException
        {
            BlockBytes prefix = readPrefix(body, body.remaining())
                    .orElseThrow(() -> new WireException("message ends before its checksums"));
            return new BlockBytes(prefix.block(), prefix.source(), prefix.etagDigest(), prefix.checksums(), new WireReader(body).getRest());
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
