package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.util.List;
import java.util.Optional;

/**
 * Messages that transfer blocks from one cache worker to another.
 */
public sealed interface HandOverMessage
        extends Message
{
    /**
     * Asks another worker for its blocks of a file and their terms. Answered by {@link Description}.
     */
    record Describe(FileVersionId file, int firstBlock, int blockCount)
            implements HandOverMessage
    {
        public static final int MAX_BLOCKS = 1024;

        public Describe
        {
            if (firstBlock < 0 || blockCount < 0 || blockCount > MAX_BLOCKS || firstBlock > Integer.MAX_VALUE - blockCount) {
                throw new IllegalArgumentException("there are no %s blocks from %s, or more than %s".formatted(blockCount, firstBlock, MAX_BLOCKS));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.DESCRIBE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(file.digest()).putInt(firstBlock).putInt(blockCount);
        }

        static Describe read(WireReader reader)
                throws WireException
        {
            return new Describe(new FileVersionId(reader.getDigest()), reader.getInt(), reader.getInt());
        }
    }

    /**
     * Describes the blocks of a file that a worker has.
     *
     * @param known false if the worker has nothing of the file that the peer may see; the other fields are empty then
     * @param etag the ETag to which the file version is bound; empty if the origin returned none
     * @param table {@code schema.table} of the read that first filled the file
     * @param blocks the cached blocks
     */
    record Description(boolean known, Optional<String> etag, String table, List<DescribedBlock> blocks)
            implements HandOverMessage
    {
        public static final Description UNKNOWN = new Description(false, Optional.empty(), "", List.of());

        public Description
        {
            blocks = List.copyOf(blocks);
        }

        @Override
        public MessageType type()
        {
            return MessageType.DESCRIPTION;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putBoolean(known).putOptionalString(etag).putString(table)
                    .putList(blocks, (out, block) -> out.putInt(block.block()).putByte(block.blockClass()).putLong(block.expirySeconds()));
        }

        static Description read(WireReader reader)
                throws WireException
        {
            return new Description(
                    reader.getBoolean(),
                    reader.getOptionalString(),
                    reader.getString(),
                    reader.getList(in -> new DescribedBlock(in.getInt(), in.getByte(), in.getLong())));
        }
    }

    /**
     * The terms on which a worker keeps a block.
     *
     * @param block the block's index in the file
     * @param blockClass the retention class, from 0
     * @param expirySeconds when the block expires, in seconds since the Unix epoch; 2^32 - 1 if never
     */
    record DescribedBlock(int block, int blockClass, long expirySeconds) {}

    /**
     * Sent by a draining worker to the next owner of these blocks, which reads them from the sender and keeps them.
     * Answered by {@link HandedOver} when the transfer is complete.
     *
     * @param sender the worker to read from, at its address on the rings
     * @param files the hottest blocks first
     */
    record HandOver(CacheWorkerId sender, List<FileBlocks> files)
            implements HandOverMessage
    {
        public static final int MAX_BLOCKS = 1024;

        public HandOver
        {
            files = List.copyOf(files);
            long count = files.stream().mapToLong(file -> file.blocks().size()).sum();
            if (count > MAX_BLOCKS) {
                throw new IllegalArgumentException("more than %s blocks at once: %s".formatted(MAX_BLOCKS, count));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.HAND_OVER;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(sender.value()).putList(files, (out, file) -> {
                out.putFile(file.file()).putList(file.blocks(), WireWriter::putInt);
            });
        }

        static HandOver read(WireReader reader)
                throws WireException
        {
            return new HandOver(
                    new CacheWorkerId(reader.getString()),
                    reader.getList(in -> new FileBlocks(in.getFile(), in.getList(WireReader::getInt))));
        }
    }

    /**
     * Blocks of one file.
     *
     * @param blocks the indexes of the blocks in the file
     */
    record FileBlocks(FileVersion file, List<Integer> blocks)
    {
        public FileBlocks
        {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * Reports the result of a {@link HandOver}.
     *
     * @param blocks how many of the named blocks the worker now has
     */
    record HandedOver(int blocks)
            implements HandOverMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.HANDED_OVER;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(blocks);
        }

        static HandedOver read(WireReader reader)
                throws WireException
        {
            return new HandedOver(reader.getInt());
        }
    }
}
