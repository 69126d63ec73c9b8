package io.cachedhive.protocol.wire;

/**
 * Messages that apply to requests of any kind.
 */
public sealed interface ControlMessage
        extends Message
{
    /**
     * Cancels a request. It is not answered itself, and answers to the request that are already in flight still arrive.
     */
    record Cancel(long request)
            implements ControlMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.CANCEL;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(request);
        }

        static Cancel read(WireReader reader)
                throws WireException
        {
            return new Cancel(reader.getLong());
        }
    }

    record Ack()
            implements ControlMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.ACK;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Ack read(WireReader reader)
        {
            return new Ack();
        }
    }

    /**
     * Rejects a request. With request id 0 it rejects the connection, which is then closed.
     */
    @SuppressWarnings("AvoidCommonTypeNames") // always referenced as ControlMessage.Error
    record Error(String message)
            implements ControlMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.ERROR;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(message);
        }

        static Error read(WireReader reader)
                throws WireException
        {
            return new Error(reader.getString());
        }
    }
}
