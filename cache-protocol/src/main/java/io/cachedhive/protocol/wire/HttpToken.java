package io.cachedhive.protocol.wire;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Authenticates callers of a worker's HTTP API without sending the shared secret. The header is
 * {@code Authorization: Bearer 1.TIME.SIGNATURE}, where TIME is milliseconds since the Unix epoch and SIGNATURE is the
 * HMAC-SHA256 of the time. A token is valid for one minute before and after its time, so clocks must agree that far.
 */
public final class HttpToken
{
    public static final long VALID_MILLIS = 60_000;

    private static final String VERSION = "1";
    private static final String SCHEME = "Bearer ";

    private HttpToken() {}

    /**
     * Creates a token.
     *
     * @return the value of the {@code Authorization} header
     */
    public static String authorization(String secret, long nowMillis)
    {
        return SCHEME + VERSION + "." + nowMillis + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(sign(secret, nowMillis));
    }

    /**
     * Verifies a token, comparing the signature in constant time.
     *
     * @param authorization the value of the {@code Authorization} header, as received
     */
    public static boolean verify(String secret, String authorization, long nowMillis)
    {
        if (!authorization.startsWith(SCHEME)) {
            return false;
        }
        String[] parts = authorization.substring(SCHEME.length()).strip().split("\\.", -1);
        if (parts.length != 3 || !parts[0].equals(VERSION)) {
            return false;
        }
        long time;
        byte[] signature;
        try {
            time = Long.parseLong(parts[1]);
            signature = Base64.getUrlDecoder().decode(parts[2].getBytes(US_ASCII));
        }
        catch (IllegalArgumentException _) {
            return false;
        }
        boolean fresh = time >= nowMillis - VALID_MILLIS && time <= nowMillis + VALID_MILLIS;
        return MessageDigest.isEqual(sign(secret, time), signature) && fresh;
    }

    private static byte[] sign(String secret, long timeMillis)
    {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            return mac.doFinal(("cachedhive-http-1\n" + timeMillis).getBytes(UTF_8));
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has HmacSHA256", e);
        }
    }
}
