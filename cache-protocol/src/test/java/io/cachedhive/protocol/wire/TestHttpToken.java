package io.cachedhive.protocol.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TestHttpToken
{
    private static final long NOW = 1_700_000_000_000L;

    @Test
    void testProvesTheSecretWithoutSendingIt()
    {
        String authorization = HttpToken.authorization("secret", NOW);

        assertThat(authorization).doesNotContain("secret");
        assertThat(HttpToken.verify("secret", authorization, NOW)).isTrue();
        assertThat(HttpToken.verify("other", authorization, NOW)).isFalse();
    }

    @Test
    void testIsGoodForAMinute()
    {
        String authorization = HttpToken.authorization("secret", NOW);

        assertThat(HttpToken.verify("secret", authorization, NOW + 60_000)).isTrue();
        assertThat(HttpToken.verify("secret", authorization, NOW - 60_000)).isTrue();
        assertThat(HttpToken.verify("secret", authorization, NOW + 60_001)).isFalse();
        assertThat(HttpToken.verify("secret", authorization, NOW - 60_001)).isFalse();
    }

    @Test
    void testTimeIsSigned()
    {
        String authorization = HttpToken.authorization("secret", NOW);

        assertThat(HttpToken.verify("secret", authorization.replace(Long.toString(NOW), Long.toString(NOW + 1)), NOW)).isFalse();
    }

    /// The form is a contract between programs of different releases.
    @Test
    void testForm()
    {
        assertThat(HttpToken.authorization("secret", NOW)).matches("Bearer 1\\.1700000000000\\.[A-Za-z0-9_-]{43}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Bearer", "Bearer ", "Basic x", "Bearer 1.2", "Bearer 1..", "Bearer 1.1700000000000.", "Bearer 1.1700000000000.%%%",
            "Bearer 1.9999999999999999999.AAAA", "Bearer 2.1700000000000.AAAA"})
    void testGarbage(String authorization)
    {
        assertThat(HttpToken.verify("secret", authorization, NOW)).isFalse();
    }
}
