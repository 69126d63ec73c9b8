package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.ReadMessage.Read;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Messages that set how blocks are kept.
 */
public sealed interface PolicyMessage
        extends Message
{
    /**
     * Wraps a request that fills blocks to set the terms for them. Answered like the plain request, which leaves the
     * terms to the worker.
     *
     * @param terms the terms of the blocks only
     * @param request a {@link Read} or a {@link FetchAhead}
     */
    record OnTerms(FillTerms terms, Message request)
            implements PolicyMessage
    {
        public OnTerms
        {
            terms = terms.ofBlocks();
            if (!(request instanceof Read) && !(request instanceof FetchAhead)) {
                throw new IllegalArgumentException("%s fills no blocks".formatted(request.type()));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.ON_TERMS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            terms.writeTo(writer);
            writer.putByte(request.type().code());
            request.writeTo(writer);
        }

        static OnTerms read(WireReader reader)
                throws WireException
        {
            FillTerms terms = FillTerms.read(reader);
            MessageType type = MessageType.fromCode(reader.getByte());
            Message request = switch (type) {
                case READ -> Read.read(reader);
                case FETCH_AHEAD -> FetchAhead.read(reader);
                default -> throw new WireException("%s message is not one that fills blocks".formatted(type));
            };
            return new OnTerms(terms, request);
        }
    }

    /**
     * Requests a class for blocks that a client read from shared memory. Not answered: the worker changes those blocks
     * that it still has.
     */
    record Reclassify(FillClass fillClass, List<Digest128> blocks)
            implements PolicyMessage
    {
        public Reclassify
        {
            requireNonNull(fillClass, "fillClass is null");
            blocks = List.copyOf(blocks);
        }

        @Override
        public MessageType type()
        {
            return MessageType.RECLASSIFY;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putByte(fillClass.ordinal()).putList(blocks, WireWriter::putDigest);
        }

        static Reclassify read(WireReader reader)
                throws WireException
        {
            return new Reclassify(FillClass.read(reader), reader.getList(WireReader::getDigest));
        }
    }

    /**
     * Sets the quota of a table. Sent before the table is read, and again periodically. Not answered: the worker
     * applies its share of the quota from then on.
     *
     * @param table {@code schema.table}
     * @param bytes the quota over all cache workers of the ring; {@link FillTerms#NO_QUOTA} for none
     */
    record TableQuota(String table, long bytes)
            implements PolicyMessage
    {
        public TableQuota
        {
            requireNonNull(table, "table is null");
            if (bytes < 0) {
                throw new IllegalArgumentException("quota is negative: " + bytes);
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.TABLE_QUOTA;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(table).putLong(bytes);
        }

        static TableQuota read(WireReader reader)
                throws WireException
        {
            return new TableQuota(reader.getString(), reader.getLong());
        }
    }
}
