package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.HttpProof.Request;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class TestHttpProof
{
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";
    private static final String OTHER_SECRET = "Zx8Qw1Er5Ty3Ui9Op2As6Df4Gh7Jk0Lm";
    private static final long NOW = 1_700_000_000_000L;
    private static final Request DRAIN = new Request("POST", "/v1/drain?deadline=5m", "host1:8485");

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1000);
    private final AtomicLong millis = new AtomicLong(NOW);
    private final HttpChallenges challenges = challenges("worker-1");

    private HttpChallenges challenges(String worker)
    {
        return new HttpChallenges(worker, new SecureRandom(), nanos::get, millis::get);
    }

    private String drain()
    {
        return HttpProof.authorization(SECRET, DRAIN, challenges.issue(), NOW);
    }

    private void assertAccepted(String authorization)
    {
        assertThat(challenges.problem(List.of(SECRET), DRAIN, authorization)).isEmpty();
    }

    private void assertRefused(Request request, String authorization, String reason)
    {
        assertThat(challenges.problem(List.of(SECRET), request, authorization)).hasValueSatisfying(problem -> assertThat(problem).contains(reason));
    }

    @Test
    void testProvesTheSecretWithoutSendingIt()
    {
        assertThat(drain()).doesNotContain(SECRET);
        assertAccepted(drain());
        assertThat(challenges.problem(List.of(OTHER_SECRET), DRAIN, drain())).isPresent();
    }

    @Test
    void testTwoSecrets()
    {
        assertThat(challenges.problem(List.of(OTHER_SECRET, SECRET), DRAIN, drain())).isEmpty();
        assertThat(challenges.problem(List.of(), DRAIN, drain())).isPresent();
    }

    @Test
    void testReplay()
    {
        String authorization = drain();
        assertAccepted(authorization);
        assertRefused(DRAIN, authorization, "used before");
        // remembered for as long as the nonce is valid
        nanos.addAndGet(Duration.ofSeconds(60).toNanos());
        assertRefused(DRAIN, authorization, "used before");
        assertAccepted(drain());
        nanos.addAndGet(1);
        assertRefused(DRAIN, authorization, "more than a minute old");
    }

    @Test
    void testOneProofForOneRequest()
    {
        Challenge challenge = challenges.issue();
        String authorization = HttpProof.authorization(SECRET, DRAIN, challenge, NOW);
        assertRefused(new Request("GET", DRAIN.target(), DRAIN.authority()), authorization, "not of this request");
        assertRefused(new Request("POST", "/v1/ssd-format?deadline=5m", DRAIN.authority()), authorization, "not of this request");
        assertRefused(new Request("POST", "/v1/drain?deadline=1s", DRAIN.authority()), authorization, "not of this request");
        assertRefused(new Request("POST", "/v1/drain", DRAIN.authority()), authorization, "not of this request");
        assertRefused(new Request("POST", DRAIN.target(), "host2:8485"), authorization, "not of this request");
        assertRefused(new Request("POST", DRAIN.target(), "host1:9999"), authorization, "not of this request");
        // refused requests do not use the nonce up
        assertAccepted(authorization);
    }

    @Test
    void testOtherWorker()
    {
        HttpChallenges other = challenges("worker-2");
        // the same request is sent to the other cache worker
        assertThat(other.problem(List.of(SECRET), DRAIN, drain())).isPresent();
        // and a challenge of the other one is passed on as if it were this one's
        String authorization = HttpProof.authorization(SECRET, DRAIN, new Challenge(other.issue().nonce(), "worker-1"), NOW);
        assertThat(other.problem(List.of(SECRET), DRAIN, authorization)).hasValueSatisfying(problem -> assertThat(problem).contains("not of this request"));
        assertRefused(DRAIN, authorization, "not from this process");
    }

    @Test
    void testOtherProcessOfTheSameWorker()
    {
        assertThat(challenges("worker-1").problem(List.of(SECRET), DRAIN, drain())).isPresent();
    }

    @Test
    void testExpiredNonce()
    {
        Challenge challenge = challenges.issue();
        nanos.addAndGet(Duration.ofSeconds(60).toNanos());
        assertAccepted(HttpProof.authorization(SECRET, DRAIN, challenge, NOW));
        challenge = challenges.issue();
        nanos.addAndGet(Duration.ofSeconds(60).toNanos() + 1);
        assertRefused(DRAIN, HttpProof.authorization(SECRET, DRAIN, challenge, NOW), "more than a minute old");
    }

    @Test
    void testTamperedNonce()
    {
        Challenge challenge = challenges.issue();
        byte[] bytes = Base64.getUrlDecoder().decode(challenge.nonce());
        for (int index = 0; index < bytes.length; index++) {
            byte[] tampered = bytes.clone();
            tampered[index] ^= 1;
            String nonce = Base64.getUrlEncoder().withoutPadding().encodeToString(tampered);
            assertRefused(DRAIN, HttpProof.authorization(SECRET, DRAIN, new Challenge(nonce, challenge.worker()), NOW), "not from this process");
        }
        String made = Base64.getUrlEncoder().withoutPadding().encodeToString(new byte[bytes.length]);
        assertRefused(DRAIN, HttpProof.authorization(SECRET, DRAIN, new Challenge(made, challenge.worker()), NOW), "not from this process");
    }

    @Test
    void testClocks()
    {
        for (long time : List.of(NOW - 60_001, NOW + 60_001, 0L)) {
            assertRefused(DRAIN, HttpProof.authorization(SECRET, DRAIN, challenges.issue(), time), "clocks differ");
        }
        for (long time : List.of(NOW - 60_000, NOW + 60_000)) {
            assertAccepted(HttpProof.authorization(SECRET, DRAIN, challenges.issue(), time));
        }
    }

    @Test
    void testTimeIsSigned()
    {
        String authorization = drain();
        assertRefused(DRAIN, authorization.replace(Long.toString(NOW), Long.toString(NOW + 1)), "not of this request");
    }

    @Test
    void testUsedNoncesAreBounded()
    {
        HttpChallenges bounded = new HttpChallenges("worker-1", 10, new SecureRandom(), nanos::get, millis::get);
        for (int count = 0; count < 10; count++) {
            assertThat(bounded.problem(List.of(SECRET), DRAIN, HttpProof.authorization(SECRET, DRAIN, bounded.issue(), NOW))).isEmpty();
        }
        assertThat(bounded.problem(List.of(SECRET), DRAIN, HttpProof.authorization(SECRET, DRAIN, bounded.issue(), NOW))).contains("too many requests within a minute");
        nanos.addAndGet(Duration.ofSeconds(60).toNanos() + 1);
        assertThat(bounded.problem(List.of(SECRET), DRAIN, HttpProof.authorization(SECRET, DRAIN, bounded.issue(), NOW))).isEmpty();
    }

    @Test
    void testHeaders()
    {
        Challenge challenge = challenges.issue();
        assertThat(challenge.header()).matches("CachedHive nonce=\"[A-Za-z0-9_-]{75}\", worker=\"worker-1\"");
        assertThat(Challenge.parse(challenge.header())).contains(challenge);
        assertThat(Challenge.parse("Bearer")).isEmpty();
        assertThat(Challenge.parse("CachedHive nonce=\"a\", worker=\"b\nc\"")).isEmpty();
        assertThat(drain()).matches("CachedHive nonce=\"[A-Za-z0-9_-]{75}\", time=1700000000000, proof=\"[A-Za-z0-9_-]{43}\"");
        // the form is a contract between programs of different releases
        assertThat(HttpProof.authorization(SECRET, DRAIN, new Challenge("nonce", "worker-1"), NOW))
                .isEqualTo("CachedHive nonce=\"nonce\", time=1700000000000, proof=\"HkLz2QZISeoVCfVNNWmsNXGUfgCNJVrX7jC1ypnk6_4\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "CachedHive", "Bearer x", "CachedHive nonce=\"\", time=1, proof=\"\"", "CachedHive nonce=\"AAAA\", time=9999999999999999999, proof=\"A\""})
    void testGarbage(String authorization)
    {
        assertRefused(DRAIN, authorization, "no proof");
    }

    @Test
    void testHostHeader()
    {
        assertThat(ProvingHttpClient.hostHeader(URI.create("http://Host1:8485/v1"))).isEqualTo("Host1:8485");
        assertThat(ProvingHttpClient.hostHeader(URI.create("http://host1:80/v1"))).isEqualTo("host1");
        assertThat(ProvingHttpClient.hostHeader(URI.create("https://[::1]:443/v1"))).isEqualTo("[::1]");
        assertThat(ProvingHttpClient.hostHeader(URI.create("https://host1:80/v1"))).isEqualTo("host1:80");
        assertThat(Request.of("GET", URI.create("http://Host1:8485"), "Host1:8485")).isEqualTo(new Request("GET", "/", "host1:8485"));
        assertThat(Request.of("GET", URI.create("http://h/v1/tables?after=a%20b"), "h").target()).isEqualTo("/v1/tables?after=a%20b");
    }
}
