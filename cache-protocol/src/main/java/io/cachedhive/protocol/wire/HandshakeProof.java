package io.cachedhive.protocol.wire;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Lets both peers prove that they know the shared secret without sending it. Each signs both nonces and its own role
 * with HMAC-SHA256. The role prevents an attacker from reflecting a proof to its sender.
 */
public final class HandshakeProof
{
    public static final int NONCE_BYTES = 32;

    private HandshakeProof() {}

    public enum Role
    {
        CLIENT,
        SERVER,
    }

    /**
     * Computes a proof.
     *
     * @return empty if there is no secret
     */
    public static byte[] prove(Optional<String> secret, Role role, byte[] clientNonce, byte[] serverNonce)
    {
        if (secret.isEmpty()) {
            return new byte[0];
        }
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.get().getBytes(UTF_8), "HmacSHA256"));
            mac.update(("cachedhive-handshake-1\n" + role + "\n").getBytes(UTF_8));
            mac.update(clientNonce);
            mac.update(serverNonce);
            return mac.doFinal();
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has HmacSHA256", e);
        }
    }

    /**
     * Verifies a proof in constant time.
     */
    public static boolean verify(Optional<String> secret, Role role, byte[] clientNonce, byte[] serverNonce, byte[] proof)
    {
        return MessageDigest.isEqual(prove(secret, role, clientNonce, serverNonce), proof);
    }
}
