package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;

/**
 * Messages about the members of the ring.
 */
public sealed interface RingMessage
        extends Message
{
    /**
     * Publishes a ring. Sent by the coordinator. Answered by {@link Ack}.
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
     * Asks for the rings that the worker has. Answered by {@link Rings}.
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
     * Lists rings.
     *
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
