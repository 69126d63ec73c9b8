package io.cachedhive.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * What waits to be written to a channel, in order. For the thread of the channel's loop.
 */
final class SendQueue
{
    // a heap buffer is copied outside the heap by the JDK to be written: in pieces of this size, which it keeps per thread
    private static final int WRITE_BYTES = 128 << 10;
    private static final int WRITE_BUFFERS = 32;

    private final Deque<Outgoing> messages = new ArrayDeque<>();
    private final Consumer<Outgoing> left;

    /**
     * @param left told of each message once, when it is written or dropped
     */
    SendQueue(Consumer<Outgoing> left)
    {
        this.left = requireNonNull(left, "left is null");
    }

    /**
     * @param payload follows the frame; may be null
     * @param written to be run when the message has left; may be null
     * @param frameBytes of the frame as a whole
     */
    record Outgoing(ByteBuffer frame, ByteBuffer payload, Runnable written, int frameBytes)
    {
        Outgoing(ByteBuffer frame, ByteBuffer payload, Runnable written)
        {
            this(frame, payload, written, frame.remaining());
        }

        boolean isWritten()
        {
            return !frame.hasRemaining() && (payload == null || !payload.hasRemaining());
        }
    }

    void add(Outgoing message)
    {
        messages.add(message);
    }

    /**
     * Writes as much as the channel takes.
     *
     * @return whether that was all
     */
    boolean write(GatheringByteChannel channel)
            throws IOException
    {
        while (!messages.isEmpty()) {
            long wanted = 0;
            List<ByteBuffer> buffers = new ArrayList<>();
            for (Outgoing message : messages) {
                for (ByteBuffer buffer : message.payload() == null ? List.of(message.frame()) : List.of(message.frame(), message.payload())) {
                    if (buffer.hasRemaining() && wanted < WRITE_BYTES && buffers.size() < WRITE_BUFFERS) {
                        int length = (int) Math.min(buffer.remaining(), WRITE_BYTES - wanted);
                        buffers.add(buffer.slice(buffer.position(), length));
                        wanted += length;
                    }
                }
                if (wanted >= WRITE_BYTES || buffers.size() >= WRITE_BUFFERS) {
                    break;
                }
            }
            long written = channel.write(buffers.toArray(ByteBuffer[]::new));
            advance(written);
            if (written < wanted) {
                return false;
            }
        }
        return true;
    }

    private void advance(long written)
    {
        long bytes = written;
        while (!messages.isEmpty()) {
            Outgoing message = messages.peek();
            bytes -= advance(message.frame(), bytes);
            if (message.payload() != null) {
                bytes -= advance(message.payload(), bytes);
            }
            if (!message.isWritten()) {
                return;
            }
            left.accept(messages.remove());
        }
    }

    private static int advance(ByteBuffer buffer, long bytes)
    {
        int count = (int) Math.min(buffer.remaining(), bytes);
        buffer.position(buffer.position() + count);
        return count;
    }

    void drop()
    {
        Outgoing message;
        while ((message = messages.poll()) != null) {
            left.accept(message);
        }
    }
}
