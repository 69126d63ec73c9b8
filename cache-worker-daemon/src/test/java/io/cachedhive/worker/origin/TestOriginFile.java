package io.cachedhive.worker.origin;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

        assertThatThrownBy(() -> Origins.load(directory, _ -> new IgnoringObserver()).connect())
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
