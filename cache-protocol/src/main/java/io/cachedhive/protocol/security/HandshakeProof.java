package io.cachedhive.protocol.security;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.SecretKeys.Purpose;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.WireWriter;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

import static java.util.Objects.requireNonNull;

/**
 * Lets both peers of a connection prove that they know the shared secret without sending it. Each signs everything that
 * both have agreed on, with HMAC-SHA256 and a key derived for this purpose: its own side of the connection, the whole
 * HELLO, the protocol version, the nonce and the id of the cache worker, and the TLS connection.
 *
 * <p>The side prevents a peer from returning a proof to its sender. The binding to the TLS connection (RFC 9266 uses the
 * same construction) prevents a relay between two TLS connections: each has another exported key.
 */
public final class HandshakeProof
{
    public static final int NONCE_BYTES = 32;
    public static final int PROOF_BYTES = 32;

    private static final String CONTEXT = "cachedhive-handshake-1";

    private HandshakeProof() {}

    /**
     * The end of a connection that signs.
     */
    public enum Side
    {
        CLIENT,
        SERVER,
    }

    /**
     * What both sides sign.
     *
     * @param hello the first message, as it was sent
     * @param version the version of the protocol that the cache worker chose
     * @param serverNonce the nonce of the cache worker
     * @param worker the id of the cache worker
     * @param binding the key material exported from the TLS connection; empty without TLS
     */
    public record Transcript(Hello hello, int version, byte[] serverNonce, CacheWorkerId worker, byte[] binding)
    {
        public Transcript
        {
            requireNonNull(hello, "hello is null");
            requireNonNull(serverNonce, "serverNonce is null");
            requireNonNull(worker, "worker is null");
            requireNonNull(binding, "binding is null");
        }

        private byte[] signed(Side side)
        {
            WireWriter writer = new WireWriter(512);
            writer.putString(CONTEXT).putString(side.name());
            WireWriter body = new WireWriter(256);
            hello.writeTo(body);
            ByteBuffer helloBody = body.finish();
            byte[] helloBytes = new byte[helloBody.remaining()];
            helloBody.get(helloBytes);
            ByteBuffer bytes = writer.putBytes(helloBytes).putInt(version).putBytes(serverNonce).putString(worker.value()).putBytes(binding).finish();
            byte[] result = new byte[bytes.remaining()];
            bytes.get(result);
            return result;
        }
    }

    /**
     * Computes a proof with a secret.
     *
     * @return {@value PROOF_BYTES} bytes
     */
    public static byte[] prove(String secret, Side side, Transcript transcript)
    {
        return SecretKeys.mac(SecretKeys.derive(secret, Purpose.HANDSHAKE)).doFinal(transcript.signed(side));
    }

    /**
     * Computes one proof per valid secret, in the order of the secrets.
     */
    public static List<byte[]> proveAll(List<String> secrets, Side side, Transcript transcript)
    {
        List<byte[]> proofs = new ArrayList<>(secrets.size());
        for (String secret : secrets) {
            proofs.add(prove(secret, side, transcript));
        }
        return proofs;
    }

    /**
     * Returns the position of the first secret with which one of the proofs was made, comparing in constant time.
     *
     * @return empty if none of the proofs was made with one of the secrets
     */
    public static OptionalInt verify(List<String> secrets, Side side, Transcript transcript, List<byte[]> proofs)
    {
        OptionalInt position = OptionalInt.empty();
        for (int i = 0; i < secrets.size(); i++) {
            byte[] expected = prove(secrets.get(i), side, transcript);
            for (byte[] proof : proofs) {
                if (MessageDigest.isEqual(expected, proof) && position.isEmpty()) {
                    position = OptionalInt.of(i);
                }
            }
        }
        return position;
    }
}
