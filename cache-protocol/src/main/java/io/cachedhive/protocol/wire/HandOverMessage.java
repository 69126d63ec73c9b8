package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.util.List;
import java.util.Optional;

/**
 * What one worker takes over from another.
 */
public sealed interface HandOverMessage
        extends Message
{
    /**
     * From one worker to another: what of a file has it, and on which terms? Answered by {@link Description}.
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
     * @param known false if there is nothing of the file that may be shown: then the rest is empty
     * @param etag to which the file version is bound; empty if the origin told none
     * @param table {@code schema.table} of the read that filled the file first
     * @param blocks that are there
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
     * @param block its index in the file
     * @param blockClass how much it is worth keeping, from 0
     * @param expirySeconds since the epoch, when it expires; 2^32 - 1 if never
     */
    record DescribedBlock(int block, int blockClass, long expirySeconds) {}

    /**
     * From a worker that leaves to the owner of these blocks on the ring without it, which reads them from the sender and keeps them. Answered by {@link HandedOver} when
     * that is done.
     *
     * @param sender whom to read them from, at its address on the rings
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
     * @param blocks their indexes in the file
     */
    record FileBlocks(FileVersion file, List<Integer> blocks)
    {
        public FileBlocks
        {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * @param blocks how many of those that were named the worker has now
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
