package io.cachedhive.admin.settings;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

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

    @ParameterizedTest
    @ValueSource(strings = {
            "http-server.https.keystore.key",
            "http-server.https.truststore.key",
            "internal-communication.https.keystore.key",
            "internal-communication.https.truststore.key",
            "http-server.authentication.oauth2.state-key",
            "hive.metastore.http.client.additional-headers",
            "otel.exporter.tls.client-key-pem",
            "exchange.azure.connection-string",
    })
    void testPropertiesOfTrinoWithSecrets(String name)
    {
        // a value in base 64 looks like a path
        for (String value : List.of("/the/value", "Authorization: the value")) {
            assertThat(new Secrets().mask("a=b\n" + name + "=" + value + "\n")).isEqualTo("a=b\n" + name + "=***\n");
            Secrets secrets = new Secrets();
            secrets.addFrom(name + "=" + value);
            assertThat(secrets.mask("refused: " + value)).isEqualTo("refused: ***");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "http-server.https.keystore.path=/etc/trino/keystore.jks",
            "hive.metastore.thrift.client.ssl.key=/etc/trino/client.pem",
            "http-server.max-request-header-size=32kB",
            "otel.tracing.baggage.allowed-keys=a,b",
            "s3.sse.kms-key-id=alias/lake",
            "some.key=",
    })
    void testOthersStay(String line)
    {
        assertThat(new Secrets().mask(line + "\nnext=1\n")).isEqualTo(line + "\nnext=1\n");
    }
}
