package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.SecretKeys.Purpose;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSharedSecret
{
    @Test
    void testRefusedSecrets()
    {
        assertThat(SharedSecret.problem("abc")).hasValue("has 3 characters, at least 32 are required: generate one with: openssl rand -base64 48");
        assertThat(SharedSecret.problem("x".repeat(40))).hasValueSatisfying(problem -> assertThat(problem).contains("fewer than 8 different characters"));
        for (String sample : List.of("replace-with-a-secret-of-your-own", "internal-communication-shared-secret", "0123456789abcdef0123456789abcdef")) {
            assertThat(SharedSecret.problem(sample)).hasValueSatisfying(problem -> assertThat(problem).startsWith("is a sample from the documentation"));
        }
        assertThat(SharedSecret.problem(" k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa")).hasValue("begins or ends with white space");
    }

    @Test
    void testAcceptedSecrets()
    {
        assertThat(SharedSecret.problem("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa")).isEmpty();
    }

    @Test
    void testOneKeyPerPurpose()
    {
        Set<String> keys = new HashSet<>();
        for (Purpose purpose : Purpose.values()) {
            keys.add(HexFormat.of().formatHex(SecretKeys.derive("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa", purpose).getEncoded()));
        }
        assertThat(keys).hasSize(Purpose.values().length).allSatisfy(key -> assertThat(key).hasSize(64));
    }

    @Test
    void testFingerprint()
    {
        String fingerprint = SecretKeys.fingerprint("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa");
        assertThat(fingerprint).matches("[0-9a-f]{16}").isEqualTo(SecretKeys.fingerprint("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa"));
        assertThat(SecretKeys.fingerprint("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pb")).isNotEqualTo(fingerprint);
        // no part of a key that signs
        for (Purpose purpose : new Purpose[] {Purpose.HANDSHAKE, Purpose.HTTP_REQUEST}) {
            byte[] key = SecretKeys.derive("k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa", purpose).getEncoded();
            assertThat(HexFormat.of().formatHex(key)).doesNotContain(fingerprint);
        }
    }

    @Test
    void testAtMostTwoSecrets()
    {
        assertThat(Secrets.of("a", "b").valid()).containsExactly("a", "b");
        assertThat(Secrets.NONE.isEmpty()).isTrue();
        assertThatThrownBy(() -> Secrets.of("a", "b", "c")).isInstanceOf(IllegalArgumentException.class);
    }
}
