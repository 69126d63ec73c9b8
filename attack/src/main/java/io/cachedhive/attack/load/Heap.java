package io.cachedhive.attack.load;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.MessageType;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * Many peers declare huge messages at the same time, and send as much of them as the cache worker takes.
 */
public final class Heap
        implements Attack
{
    private static final int DEFAULT_CONNECTIONS = 64;
    private static final int PART_BYTES = 64 << 10;
    private static final int HTTP_BYTES = 4 << 20;

    @Override
    public String name()
    {
        return "heap";
    }

    @Override
    public String description()
    {
        return "huge lengths and bodies on many connections at once";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
    }

    @Override
    public boolean isCounted()
    {
        return true;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        Duration lifetime = pressure.duration().plusMinutes(1);
        Swarm.run(pressure.connections().orElse(DEFAULT_CONNECTIONS), pressure.duration(), index -> {
            switch (index % 4) {
                case 1 -> {
                    if (target.secret().isPresent()) {
                        // the largest message that a cache worker accepts, without its last part
                        try (WireConnection connection = target.member(lifetime)) {
                            send(connection, MessageType.FILL, FrameHeader.MAX_BODY_BYTES, FrameHeader.MAX_BODY_BYTES - PART_BYTES);
                        }
                    }
                }
                case 2 -> {
                    if (target.secret().isPresent()) {
                        try (WireConnection connection = target.member(lifetime)) {
                            send(connection, MessageType.READ, Integer.MAX_VALUE, FrameHeader.MAX_BODY_BYTES);
                        }
                    }
                }
                case 3 -> {
                    if (target.http().isPresent()) {
                        post(target.http().get());
                    }
                }
                default -> {
                    try (WireConnection connection = WireConnection.tls(target.socketAddress(), lifetime)) {
                        send(connection, MessageType.HELLO, Integer.MAX_VALUE, FrameHeader.MAX_BODY_BYTES);
                    }
                }
            }
        });
        return Optional.empty();
    }

    private static void send(WireConnection connection, MessageType type, int declaredBytes, int sentBytes)
            throws IOException
    {
        ByteBuffer header = ByteBuffer.allocate(FrameHeader.BYTES);
        new FrameHeader(declaredBytes, type, 1).writeTo(header);
        connection.sendBytes(header.flip());
        ByteBuffer part = ByteBuffer.allocate(PART_BYTES);
        for (int sent = 0; sent < sentBytes; sent += PART_BYTES) {
            connection.sendBytes(part.clear());
        }
        // until the cache worker closes the connection
        connection.receive();
    }

    private static void post(HttpApi http)
            throws IOException
    {
        try (SocketChannel connection = SocketChannel.open(new InetSocketAddress(http.uri().getHost(), http.uri().getPort()))) {
            String head = "POST /v1/drain HTTP/1.1\r\nHost: %s\r\nContent-Length: %s\r\n\r\n".formatted(http.authority(), Long.MAX_VALUE);
            connection.write(ByteBuffer.wrap(head.getBytes(US_ASCII)));
            ByteBuffer part = ByteBuffer.allocate(PART_BYTES);
            for (int sent = 0; sent < HTTP_BYTES; sent += PART_BYTES) {
                for (part.clear(); part.hasRemaining();) {
                    connection.write(part);
                }
            }
            // until the cache worker closes the connection
            while (connection.read(part.clear()) >= 0) {
                part.clear();
            }
        }
    }
}
