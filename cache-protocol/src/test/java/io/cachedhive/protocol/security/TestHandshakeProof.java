package io.cachedhive.protocol.security;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.security.HandshakeProof.Side;
import io.cachedhive.protocol.security.HandshakeProof.Transcript;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

class TestHandshakeProof
{
    private static final String SECRET = "0123456789abcdef-0123456789-ghijk";
    private static final String OTHER_SECRET = "another-secret-of-32-characters-x";
    private static final Hello HELLO = hello("cluster", 1);
    private static final byte[] SERVER_NONCE = nonce(1);
    private static final CacheWorkerId WORKER = new CacheWorkerId("worker");
    private static final byte[] BINDING = binding(7);
    private static final Transcript TRANSCRIPT = new Transcript(HELLO, 1, SERVER_NONCE, WORKER, BINDING);

    private static Hello hello(String cluster, int maxVersion)
    {
        return new Hello(1, maxVersion, new byte[HandshakeProof.NONCE_BYTES], cluster, "catalog", "node", List.of());
    }

    private static byte[] nonce(int last)
    {
        byte[] nonce = new byte[HandshakeProof.NONCE_BYTES];
        nonce[31] = (byte) last;
        return nonce;
    }

    private static byte[] binding(int value)
    {
        byte[] binding = new byte[32];
        Arrays.fill(binding, (byte) value);
        return binding;
    }

    /// The expected values were computed by another implementation of HKDF and HMAC.
    @Test
    void testFixedValues()
    {
        assertThat(HexFormat.of().formatHex(HandshakeProof.prove(SECRET, Side.CLIENT, TRANSCRIPT)))
                .isEqualTo("6159a18182a0930950623aede2fc1791a4b146114c82ad47fca0a11a3dff7978");
        assertThat(HexFormat.of().formatHex(HandshakeProof.prove(SECRET, Side.SERVER, TRANSCRIPT)))
                .isEqualTo("4fde4a31f51b29375d63f6b6d6ca320443225a54ea119ebeac3c0f1592be7054");
    }

    @Test
    void testEverythingIsSigned()
    {
        List<byte[]> proof = List.of(HandshakeProof.prove(SECRET, Side.SERVER, TRANSCRIPT));
        List<String> secrets = List.of(SECRET);
        assertThat(HandshakeProof.verify(secrets, Side.SERVER, TRANSCRIPT, proof)).hasValue(0);
        assertThat(HandshakeProof.verify(secrets, Side.CLIENT, TRANSCRIPT, proof)).describedAs("side").isEmpty();
        assertThat(HandshakeProof.verify(List.of(OTHER_SECRET), Side.SERVER, TRANSCRIPT, proof)).describedAs("secret").isEmpty();
        for (Transcript other : List.of(
                new Transcript(hello("another", 1), 1, SERVER_NONCE, WORKER, BINDING),
                new Transcript(hello("cluster", 2), 1, SERVER_NONCE, WORKER, BINDING),
                new Transcript(HELLO, 2, SERVER_NONCE, WORKER, BINDING),
                new Transcript(HELLO, 1, nonce(2), WORKER, BINDING),
                new Transcript(HELLO, 1, SERVER_NONCE, new CacheWorkerId("worker-2"), BINDING),
                new Transcript(HELLO, 1, SERVER_NONCE, WORKER, binding(8)),
                new Transcript(HELLO, 1, SERVER_NONCE, WORKER, new byte[0]))) {
            assertThat(HandshakeProof.verify(secrets, Side.SERVER, other, proof)).describedAs("%s", other).isEmpty();
        }
        assertThat(HandshakeProof.verify(secrets, Side.SERVER, TRANSCRIPT, List.of())).isEmpty();
        assertThat(HandshakeProof.verify(secrets, Side.SERVER, TRANSCRIPT, List.of(new byte[0]))).isEmpty();
        assertThat(HandshakeProof.verify(List.of(), Side.SERVER, TRANSCRIPT, proof)).isEmpty();
    }

    /// During a rotation each side may know two secrets, and one that both know is enough.
    @Test
    void testTwoSecrets()
    {
        List<byte[]> both = HandshakeProof.proveAll(List.of(OTHER_SECRET, SECRET), Side.SERVER, TRANSCRIPT);
        assertThat(both).hasSize(2);
        assertThat(HandshakeProof.verify(List.of(SECRET), Side.SERVER, TRANSCRIPT, both)).isEqualTo(OptionalInt.of(0));
        assertThat(HandshakeProof.verify(List.of("unknown", SECRET), Side.SERVER, TRANSCRIPT, both)).isEqualTo(OptionalInt.of(1));
        assertThat(HandshakeProof.verify(List.of("unknown"), Side.SERVER, TRANSCRIPT, both)).isEmpty();
    }
}
