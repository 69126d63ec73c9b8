package io.cachedhive.attack.path;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.Listener;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An attacker on the path changes one byte of one TLS record. This is tried with the first and the last byte of each
 * record, in both directions, from the first record of the connection to the end of the read.
 */
public final class Flip
        implements Attack
{
    private static final int HEADER_BYTES = 5;
    // its only byte means nothing in TLS 1.3, and the receiver drops it
    private static final byte CHANGE_CIPHER_SPEC = 20;
    private static final int MAX_RECORDS = 64;

    @Override
    public String name()
    {
        return "flip";
    }

    @Override
    public String description()
    {
        return "a man in the middle changes one byte of a record";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SECRET);
    }

    @Override
    public boolean isCounted()
    {
        return true;
    }

    private enum Direction
    {
        TO_WORKER,
        TO_CLIENT,
    }

    /**
     * @param record the number of the record in its direction, without those that are not protected
     */
    private record Change(Direction direction, int record, boolean first) {}

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        for (Direction direction : Direction.values()) {
            for (boolean first : new boolean[] {true, false}) {
                int record = 0;
                while (record < MAX_RECORDS) {
                    Result result = read(target, new Change(direction, record, first));
                    if (result.success().isPresent()) {
                        return result.success();
                    }
                    if (!result.changed()) {
                        break;
                    }
                    record++;
                }
                if (record == 0) {
                    throw new IOException("the client and the cache worker sent no record that could be changed");
                }
            }
        }
        return Optional.empty();
    }

    private record Result(boolean changed, Optional<String> success) {}

    private static Result read(Target target, Change change)
            throws IOException, InterruptedException
    {
        AtomicBoolean changed = new AtomicBoolean();
        try (Listener listener = Listener.start(client -> {
            try (SocketChannel worker = SocketChannel.open(target.socketAddress())) {
                Thread.ofPlatform().daemon().start(() -> copyQuietly(worker, client, Direction.TO_CLIENT, change, changed));
                copy(client, worker, Direction.TO_WORKER, change, changed);
            }
        })) {
            byte[] bytes;
            try {
                bytes = target.client().orElseThrow().read(listener.address(), Optional.empty(), target.sample());
            }
            catch (IOException e) {
                if (!changed.get()) {
                    throw new IOException("a read through an attacker who changed nothing failed: " + e.getMessage(), e);
                }
                return new Result(true, Optional.empty());
            }
            if (!Arrays.equals(bytes, target.sample().bytes())) {
                return new Result(changed.get(), Optional.of("a client got wrong bytes"));
            }
            return changed.get() ?
                    new Result(true, Optional.of("a connection went on after record %s %s was changed".formatted(
                            change.record(),
                            change.direction() == Direction.TO_WORKER ? "to the cache worker" : "to the client"))) :
                    new Result(false, Optional.empty());
        }
    }

    private static void copyQuietly(SocketChannel from, SocketChannel to, Direction direction, Change change, AtomicBoolean changed)
    {
        try (from; to) {
            copy(from, to, direction, change, changed);
        }
        catch (IOException _) {
            // one of the peers ended the connection
        }
    }

    private static void copy(SocketChannel from, SocketChannel to, Direction direction, Change change, AtomicBoolean changed)
            throws IOException
    {
        int number = 0;
        while (true) {
            ByteBuffer header = readFully(from, HEADER_BYTES);
            ByteBuffer body = readFully(from, Short.toUnsignedInt(header.getShort(3)));
            if (header.get(0) != CHANGE_CIPHER_SPEC && body.hasRemaining()) {
                if (direction == change.direction() && number == change.record()) {
                    int position = change.first() ? 0 : body.limit() - 1;
                    body.put(position, (byte) (body.get(position) ^ 1));
                    changed.set(true);
                }
                number++;
            }
            write(to, header);
            write(to, body);
        }
    }

    private static ByteBuffer readFully(SocketChannel channel, int length)
            throws IOException
    {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the peer closed the connection");
            }
        }
        return buffer.flip();
    }

    private static void write(SocketChannel channel, ByteBuffer bytes)
            throws IOException
    {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
