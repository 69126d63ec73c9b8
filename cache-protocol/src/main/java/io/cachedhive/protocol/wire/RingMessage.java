package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;

/**
 * Who belongs to the cluster.
 */
public sealed interface RingMessage
        extends Message
{
    /**
     * From the coordinator. Answered by {@link Ack}.
     */
    record PublishRing(PublishedRing ring)
            implements RingMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.PUBLISH_RING;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            WireForms.writeRing(writer, ring);
        }

        static PublishRing read(WireReader reader)
                throws WireException
        {
            return new PublishRing(WireForms.readRing(reader));
        }
    }

    /**
     * Answered by {@link Rings}.
     */
    record GetRings()
            implements RingMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.GET_RINGS;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static GetRings read(WireReader reader)
        {
            return new GetRings();
        }
    }

    /**
     * @param rings the newest first, at most 16
     */
    record Rings(List<PublishedRing> rings)
            implements RingMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.RINGS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(rings, WireForms::writeRing);
        }

        static Rings read(WireReader reader)
                throws WireException
        {
            return new Rings(reader.getList(WireForms::readRing));
        }
    }
}
