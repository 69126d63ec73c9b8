package io.cachedhive.admin.settings;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestSecrets
{
    @Test
    void testMasksByNameAndByValue()
    {
        Secrets secrets = new Secrets();
        secrets.addFrom("s3.aws-secret-key=verysecret1\ncache.ttl=7d\n");

        assertThat(secrets.mask("""
                s3.aws-access-key=AKIA
                - internal-communication.shared-secret = x
                #cachedhive.shared-secret=old
                hive.metastore.thrift.client.ssl.trust-certificate-password: y
                cache.ttl=7d
                GET failed with verysecret1 at thrift://user:pass@host/
                """)).isEqualTo("""
                s3.aws-access-key=***
                - internal-communication.shared-secret = ***
                #cachedhive.shared-secret=***
                hive.metastore.thrift.client.ssl.trust-certificate-password: ***
                cache.ttl=7d
                GET failed with *** at thrift://user:***@host/
                """);
    }
}
