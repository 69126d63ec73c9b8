package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.HttpProof.Claim;
import io.cachedhive.protocol.security.HttpProof.Request;

import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Issues the nonces of a cache worker, and accepts each of them once, within a minute.
 * <p>
 * A nonce is its time, random bytes, and the HMAC of both with a key of this process. A nonce therefore costs no memory
 * until a request with a valid proof uses it, and no other process accepts it. Used nonces are kept until they expire.
 */
public final class HttpChallenges
{
    static final Duration VALIDITY = Duration.ofMinutes(1);
    /**
     * More than a thousand requests with a valid proof per second are refused.
     */
    private static final int MAX_USED_NONCES = 65_536;

    private static final int RANDOM_BYTES = 16;
    private static final int SIGNED_BYTES = Long.BYTES + RANDOM_BYTES;
    private static final int KEY_BYTES = 32;

    private final String worker;
    private final int maxUsedNonces;
    private final SecureRandom random;
    private final LongSupplier nanoTime;
    private final LongSupplier clockMillis;
    private final SecretKey nonceKey;
    // when each was used, in this order
    private final Map<ByteBuffer, Long> used = new LinkedHashMap<>();

    /**
     * @param worker the cache worker id
     * @param nanoTime the age of nonces, as {@link System#nanoTime}
     * @param clockMillis the time to compare with the sender's, in milliseconds since the Unix epoch
     */
    public HttpChallenges(String worker, SecureRandom random, LongSupplier nanoTime, LongSupplier clockMillis)
    {
        this(worker, MAX_USED_NONCES, random, nanoTime, clockMillis);
    }

    HttpChallenges(String worker, int maxUsedNonces, SecureRandom random, LongSupplier nanoTime, LongSupplier clockMillis)
    {
        this.worker = requireNonNull(worker, "worker is null");
        this.maxUsedNonces = maxUsedNonces;
        this.random = requireNonNull(random, "random is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.clockMillis = requireNonNull(clockMillis, "clockMillis is null");
        byte[] key = new byte[KEY_BYTES];
        random.nextBytes(key);
        this.nonceKey = new SecretKeySpec(key, "HmacSHA256");
    }

    /**
     * Returns a challenge with a new nonce.
     */
    public Challenge issue()
    {
        byte[] randomBytes = new byte[RANDOM_BYTES];
        random.nextBytes(randomBytes);
        byte[] signed = ByteBuffer.allocate(SIGNED_BYTES).putLong(nanoTime.getAsLong()).put(randomBytes).array();
        byte[] signature = signature(signed);
        byte[] nonce = ByteBuffer.allocate(SIGNED_BYTES + signature.length).put(signed).put(signature).array();
        return new Challenge(Base64.getUrlEncoder().withoutPadding().encodeToString(nonce), worker);
    }

    /**
     * Checks the proof of a request, and uses its nonce up if the proof is valid.
     *
     * @param secrets the secrets that are valid
     * @param authorization the value of the {@code Authorization} header
     * @return why the request is refused; empty if it is accepted
     */
    public Optional<String> problem(List<String> secrets, Request request, String authorization)
    {
        Optional<Claim> claim = Claim.parse(authorization);
        if (claim.isEmpty()) {
            return Optional.of("the request has no proof of the shared secret");
        }
        Optional<ByteBuffer> nonce = ownNonce(claim.get().nonce());
        if (nonce.isEmpty()) {
            return Optional.of("the nonce is not from this process, or is more than a minute old");
        }
        Challenge challenge = new Challenge(claim.get().nonce(), worker);
        boolean proven = false;
        for (String secret : secrets) {
            proven |= MessageDigest.isEqual(HttpProof.sign(secret, request, challenge, claim.get().timeMillis()), claim.get().proof());
        }
        if (!proven) {
            return Optional.of("the proof is not of this request and the shared secret");
        }
        // only who knows the secret gets here, and only their requests take memory
        if (Math.abs(clockMillis.getAsLong() - claim.get().timeMillis()) > VALIDITY.toMillis()) {
            return Optional.of("the clocks differ by more than a minute");
        }
        return use(nonce.get());
    }

    private Optional<ByteBuffer> ownNonce(String text)
    {
        byte[] nonce;
        try {
            nonce = Base64.getUrlDecoder().decode(text);
        }
        catch (IllegalArgumentException _) {
            return Optional.empty();
        }
        if (nonce.length <= SIGNED_BYTES) {
            return Optional.empty();
        }
        byte[] signed = Arrays.copyOf(nonce, SIGNED_BYTES);
        if (!MessageDigest.isEqual(signature(signed), Arrays.copyOfRange(nonce, SIGNED_BYTES, nonce.length))) {
            return Optional.empty();
        }
        return isExpired(ByteBuffer.wrap(signed).getLong()) ? Optional.empty() : Optional.of(ByteBuffer.wrap(signed));
    }

    private synchronized Optional<String> use(ByteBuffer nonce)
    {
        Iterator<Long> times = used.values().iterator();
        while (times.hasNext() && isExpired(times.next())) {
            times.remove();
        }
        if (used.containsKey(nonce)) {
            return Optional.of("the proof was used before");
        }
        if (used.size() >= maxUsedNonces) {
            return Optional.of("too many requests within a minute");
        }
        used.put(nonce, nanoTime.getAsLong());
        return Optional.empty();
    }

    private boolean isExpired(long nanos)
    {
        return nanoTime.getAsLong() - nanos > VALIDITY.toNanos();
    }

    private byte[] signature(byte[] signed)
    {
        Mac mac = SecretKeys.mac(nonceKey);
        return mac.doFinal(signed);
    }
}
