package io.cachedhive.protocol.wire;

/**
 * About requests of any kind.
 */
public sealed interface ControlMessage
        extends Message
{
    /**
     * The client no longer waits for the answer to the request. Not answered itself; answers already under way still come.
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
     * The request was refused. With request id 0: the connection is, and will be closed.
     */
    @SuppressWarnings("AvoidCommonTypeNames") // always written with the name of the interface
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
