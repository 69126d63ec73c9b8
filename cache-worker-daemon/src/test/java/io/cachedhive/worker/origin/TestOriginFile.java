package io.cachedhive.worker.origin;

import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestOriginFile
{
    @TempDir
    private Path directory;

    @Test
    void testOrigin()
            throws IOException
    {
        OriginFile file = read("lake", """
                # comment
                s3.endpoint=http://127.0.0.1:9000
                s3.region=us-east-1
                s3.path-style-access=true
                """);

        assertThat(file.name()).isEqualTo("lake");
        assertThat(file.config().isPathStyleAccess()).isTrue();
        assertThat(file.id()).isEqualTo(OriginId.of("s3", Optional.of("http://127.0.0.1:9000"), Optional.of("us-east-1")));
    }

    @Test
    void testWhatConcernsWritingIsAcceptedAndNotUsed()
            throws IOException
    {
        OriginFile file = read("lake", """
                s3.region=us-east-1
                s3.streaming.part-size=16MB
                s3.canned-acl=PRIVATE
                s3.storage-class=STANDARD_IA
                s3.sse.type=KMS
                s3.sse.kms-key-id=key
                s3.security-mapping.enabled=false
                """);

        assertThat(file.config().getRegion()).contains("us-east-1");
    }

    @Test
    void testEnvironmentIsInterpolated()
            throws IOException
    {
        String user = System.getenv("PATH");

        OriginFile file = read("lake", "s3.region=us-east-1\ns3.external-id=${ENV:PATH}\n");

        assertThat(file.config().getExternalId()).contains(user);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            s3.regoin=us-east-1                                 | s3.regoin is unknown
            hive.s3.endpoint=http://x                           | hive.s3.endpoint is unknown
            s3.security-mapping.config-file=/etc/mapping.json   | s3.security-mapping.config-file is not honoured
            s3.security-mapping.enabled=true                    | s3.security-mapping.enabled is not honoured
            s3.sse.customer-key=abc                             | s3.sse.customer-key is not honoured
            s3.sse.type=CUSTOMER                                | s3.sse.type=CUSTOMER is not honoured
            s3.max-connections=0                                | s3.max-connections
            s3.socket-timeout=soon                              | s3.socket-timeout
            s3.aws-access-key=abc                               | s3.aws-access-key and s3.aws-secret-key must be set together
            isolation-domain=a b                                | isolation-domain
            isolation-domain=                                   | isolation-domain
            allowed-locations=lake/a                            | allowed-locations has lake/a, which is no s3://bucket/prefix/
            s3.external-id=${ENV:NO_SUCH_VARIABLE_CACHEDHIVE}   | NO_SUCH_VARIABLE_CACHEDHIVE
            """)
    void testRefusedByName(String line, String message)
    {
        assertThatThrownBy(() -> read("lake", line))
                .isInstanceOf(StartupException.class)
                .hasMessageStartingWith("origin file " + directory.resolve("lake.properties"))
                .hasMessageContaining(message)
                .extracting(e -> e.getMessage().lines().count())
                .isEqualTo(1L);
    }

    @Test
    void testContradiction()
    {
        assertThatThrownBy(() -> read("lake", "s3.region=us-east-1\nisolation-domain=a\nshared-permissions=true\n"))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("isolation-domain and shared-permissions=true contradict each other, remove one of them");
    }

    @Test
    void testDomainIsThatOfTheCatalog()
            throws IOException
    {
        String key = "s3.aws-access-key=AKIAIOSFODNN7EXAMPLE\ns3.aws-secret-key=secret\n";
        assertThat(read("lake", "").domain()).isEqualTo(IsolationDomain.NONE);
        assertThat(read("lake", key).domain()).isEqualTo(IsolationDomain.ofS3(Map.of("s3.aws-access-key", "AKIAIOSFODNN7EXAMPLE")));
        assertThat(read("lake", key + "s3.auth-type=IAM_ROLE\ns3.iam-role=arn:r\n").domain()).isEqualTo(IsolationDomain.ofS3(Map.of("s3.iam-role", "arn:r")));
        assertThat(read("lake", "s3.auth-type=ANONYMOUS\n").domain()).isEqualTo(IsolationDomain.ofS3(Map.of("s3.auth-type", "ANONYMOUS")));
        assertThat(read("lake", key + "isolation-domain=finance\n").domain()).isEqualTo(IsolationDomain.named("finance"));
        assertThat(read("lake", key + "shared-permissions=true\n").domain()).isEqualTo(IsolationDomain.NONE);
        assertThat(read("lake", "s3.aws-access-key=${ENV:PATH}\ns3.aws-secret-key=secret\n").domain())
                .isEqualTo(IsolationDomain.ofS3(Map.of("s3.aws-access-key", System.getenv("PATH"))));
        OriginId first = read("lake", key).id();
        OriginId second = read("lake", key.replace("EXAMPLE", "ANOTHER")).id();
        assertThat(first).isNotEqualTo(second).isNotEqualTo(read("lake", "").id());
        assertThat(read("lake", key + "isolation-domain=finance\n").id()).isEqualTo(read("lake", key.replace("EXAMPLE", "ANOTHER") + "isolation-domain=finance\n").id());
    }

    @Test
    void testAllowedLocations()
            throws IOException
    {
        AllowedLocations allowed = read("lake", "allowed-locations=s3://lake/sales/,s3://archive\n").allowedLocations();
        assertThat(allowed.permit("s3://lake/sales/a")).isTrue();
        assertThat(allowed.permit("s3://archive/a")).isTrue();
        assertThat(allowed.permit("s3://lake/a")).isFalse();
        assertThat(read("lake", "").allowedLocations().permit("s3://lake/a")).isTrue();
    }

    @Test
    void testDirectoryMissing()
    {
        assertThatThrownBy(() -> Origins.read(directory.resolve("missing")))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("cache.origins-directory=" + directory.resolve("missing"));
    }

    @Test
    void testEndpointThatIsNone()
            throws IOException
    {
        Files.writeString(directory.resolve("lake.properties"), "s3.region=us-east-1\ns3.endpoint=no such endpoint\n");

        assertThatThrownBy(() -> Origins.load(directory, _ -> new IgnoringObserver(), false).connect())
                .isInstanceOf(StartupException.class)
                .hasMessageContaining("lake.properties");
    }

    private OriginFile read(String name, String text)
            throws IOException
    {
        Path path = directory.resolve(name + ".properties");
        Files.writeString(path, text);
        return OriginFile.read(path);
    }

    private static final class IgnoringObserver
            implements OriginObserver
    {
        @Override
        public void requestSent(Operation operation) {}

        @Override
        public void repeated() {}

        @Override
        public void answered(String bucket, int status) {}

        @Override
        public void received(long bytes) {}
    }
}
