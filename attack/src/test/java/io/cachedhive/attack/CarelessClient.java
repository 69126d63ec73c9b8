package io.cachedhive.attack;

import io.cachedhive.attack.setting.Client;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * A client that proves the secret to every server, over a connection without TLS if there is no other, and with a proof
 * that does not cover the connection.
 */
final class CarelessClient
        implements Client
{
    @Override
    public byte[] read(WorkerAddress address, Optional<CacheWorkerId> worker, Sample sample)
            throws IOException
    {
        InetSocketAddress server = new InetSocketAddress(address.host(), address.port());
        WireConnection encrypted;
        try {
            encrypted = WireConnection.tls(server);
        }
        catch (IOException _) {
            try (WireConnection plain = WireConnection.plain(server)) {
                return read(plain, sample);
            }
        }
        try (encrypted) {
            return read(encrypted, sample);
        }
    }

    private static byte[] read(WireConnection connection, Sample sample)
            throws IOException
    {
        Hello hello = WireConnection.newHello(Sample.ORIGINS);
        connection.send(0, hello);
        Message first = connection.receive();
        if (first instanceof Challenge challenge) {
            Transcript transcript = new Transcript(hello, challenge.version(), challenge.nonce(), challenge.worker(), new byte[0]);
            connection.send(0, new Proof(HandshakeProof.prove(StandIn.SECRET, Side.CLIENT, transcript)));
            connection.expect(Welcome.class);
        }
        if (!(connection.ask(sample.read(false)) instanceof BlockBytes block)) {
            throw new IOException("no block");
        }
        byte[] bytes = new byte[block.payload().remaining()];
        block.payload().duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void close() {}
}
