package io.cachedhive.protocol.file;

import io.cachedhive.protocol.file.IsolationDomain.Kind;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestIsolationDomain
{
    @Test
    void testCredentialsOfS3()
    {
        assertThat(IsolationDomain.ofS3(Map.of())).isEqualTo(IsolationDomain.NONE);
        assertThat(IsolationDomain.ofS3(Map.of("s3.auth-type", "DEFAULT", "s3.aws-access-key", " "))).isEqualTo(IsolationDomain.NONE);
        assertThat(IsolationDomain.ofS3(Map.of("s3.aws-access-key", " K1 ", "s3.aws-secret-key", "s"))).isEqualTo(new IsolationDomain(Kind.ACCESS_KEY, "K1"));
        assertThat(IsolationDomain.ofS3(Map.of("s3.auth-type", "iam-role", "s3.iam-role", "arn:a", "s3.aws-access-key", "K1")))
                .describedAs("the key only assumes the role")
                .isEqualTo(new IsolationDomain(Kind.ROLE, "arn:a"));
        assertThat(IsolationDomain.ofS3(Map.of("s3.use-web-identity-token-credentials-provider", "TRUE")).kind()).isEqualTo(Kind.WEB_IDENTITY);
        assertThat(IsolationDomain.ofS3(Map.of("s3.auth-type", "anonymous")).kind()).isEqualTo(Kind.ANONYMOUS);
    }

    @Test
    void testSecretKeyIsNoPartOfIt()
    {
        assertThat(IsolationDomain.ofS3(Map.of("s3.aws-access-key", "K1", "s3.aws-secret-key", "one")))
                .isEqualTo(IsolationDomain.ofS3(Map.of("s3.aws-access-key", "K1", "s3.aws-secret-key", "two")));
    }

    @Test
    void testDescriptionsShowNoWholeKey()
    {
        assertThat(IsolationDomain.ofS3(Map.of("s3.aws-access-key", "AKIAIOSFODNN7EXAMPLE")))
                .hasToString("isolation domain of access key AKIA***MPLE");
        for (String key : new String[] {"kx7", "AKIA1234", "fifteen-letters"}) {
            assertThat(IsolationDomain.ofS3(Map.of("s3.aws-access-key", key)).description()).doesNotContain(key);
        }
        assertThat(IsolationDomain.named("finance").description()).isEqualTo("isolation domain finance");
        assertThat(IsolationDomain.NONE.description()).isEqualTo("no isolation domain");
    }
}
