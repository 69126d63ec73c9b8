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
                gcs.json-key={"type": "service_account"}
                gcs.json-key-file-path=/etc/key.json
                azure.sas=sv=2024&sig=abc
                connection-url=jdbc:mysql://db:3306/x?user=joe&password=pw1&useSSL=true
                connection-url=jdbc:sqlserver://db;trustStorePassword=pw2;user=joe
                GET failed with verysecret1 at thrift://user:pass@host/
                """)).isEqualTo("""
                s3.aws-access-key=***
                - internal-communication.shared-secret = ***
                #cachedhive.shared-secret=***
                hive.metastore.thrift.client.ssl.trust-certificate-password: ***
                cache.ttl=7d
                gcs.json-key=***
                gcs.json-key-file-path=/etc/key.json
                azure.sas=***
                connection-url=jdbc:mysql://db:3306/x?user=joe&password=***&useSSL=true
                connection-url=jdbc:sqlserver://db;trustStorePassword=***;user=joe
                GET failed with *** at thrift://user:***@host/
                """);
    }
}
