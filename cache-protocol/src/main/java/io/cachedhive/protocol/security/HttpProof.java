package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.SecretKeys.Purpose;

import javax.crypto.Mac;

import java.net.URI;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Proves to a cache worker that the sender of one HTTP request knows the shared secret, without sending the secret.
 * <p>
 * A request without a proof is answered with status 401 and {@code WWW-Authenticate: CachedHive nonce="...", worker="..."}.
 * The sender repeats it with {@code Authorization: CachedHive nonce="...", time=..., proof="..."}. The proof is an
 * HMAC-SHA256 of the request, the nonce, the cache worker id, and the sender's time in milliseconds since the Unix epoch.
 * A nonce is valid once ({@link HttpChallenges}). The body of a request is not signed: no request of the API has one.
 */
public final class HttpProof
{
    static final String SCHEME = "CachedHive";

    private static final String MESSAGE = "cachedhive-http-1";
    private static final String TOKEN = "[A-Za-z0-9_-]{1,128}";
    private static final Pattern CHALLENGE = Pattern.compile(SCHEME + " nonce=\"(" + TOKEN + ")\", worker=\"([^\"\\p{Cntrl}]{1,256})\"");
    private static final Pattern AUTHORIZATION = Pattern.compile(SCHEME + " nonce=\"(" + TOKEN + ")\", time=([0-9]{1,18}), proof=\"([A-Za-z0-9_-]{43})\"");

    private HttpProof() {}

    /**
     * A request, as the sender addressed it.
     *
     * @param target the path and the query as they are sent, such as {@code /v1/drain?deadline=5m}
     * @param authority the value of the Host header
     */
    public record Request(String method, String target, String authority)
    {
        public Request
        {
            requireNonNull(method, "method is null");
            requireNonNull(target, "target is null");
            authority = authority.toLowerCase(Locale.ROOT);
        }

        public static Request of(String method, URI uri, String authority)
        {
            String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
            return new Request(method, uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery(), authority);
        }
    }

    /**
     * What a cache worker sends to be signed.
     *
     * @param worker its id
     */
    public record Challenge(String nonce, String worker)
    {
        public Challenge
        {
            requireNonNull(nonce, "nonce is null");
            requireNonNull(worker, "worker is null");
        }

        /**
         * Reads the value of a {@code WWW-Authenticate} header. Empty if the header has another scheme.
         */
        public static Optional<Challenge> parse(String header)
        {
            Matcher matcher = CHALLENGE.matcher(header);
            return matcher.matches() ? Optional.of(new Challenge(matcher.group(1), matcher.group(2))) : Optional.empty();
        }

        /**
         * Returns the value of the {@code WWW-Authenticate} header.
         */
        public String header()
        {
            return "%s nonce=\"%s\", worker=\"%s\"".formatted(SCHEME, nonce, worker);
        }
    }

    /**
     * What a sender claims.
     */
    record Claim(String nonce, long timeMillis, byte[] proof)
    {
        static Optional<Claim> parse(String header)
        {
            Matcher matcher = AUTHORIZATION.matcher(header);
            if (!matcher.matches()) {
                return Optional.empty();
            }
            return Optional.of(new Claim(matcher.group(1), Long.parseLong(matcher.group(2)), Base64.getUrlDecoder().decode(matcher.group(3))));
        }
    }

    /**
     * Answers a challenge.
     *
     * @param nowMillis the sender's time, in milliseconds since the Unix epoch
     * @return the value of the {@code Authorization} header
     */
    public static String authorization(String secret, Request request, Challenge challenge, long nowMillis)
    {
        String proof = Base64.getUrlEncoder().withoutPadding().encodeToString(sign(secret, request, challenge, nowMillis));
        return "%s nonce=\"%s\", time=%s, proof=\"%s\"".formatted(SCHEME, challenge.nonce(), nowMillis, proof);
    }

    static byte[] sign(String secret, Request request, Challenge challenge, long timeMillis)
    {
        Mac mac = SecretKeys.mac(SecretKeys.derive(secret, Purpose.HTTP_REQUEST));
        // none of the parts can contain a line feed
        return mac.doFinal(String.join("\n",
                MESSAGE,
                request.method(),
                request.target(),
                request.authority(),
                challenge.worker(),
                challenge.nonce(),
                Long.toString(timeMillis)).getBytes(UTF_8));
    }
}
