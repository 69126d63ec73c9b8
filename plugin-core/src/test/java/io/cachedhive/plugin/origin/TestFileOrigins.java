package io.cachedhive.plugin.origin;

import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class TestFileOrigins
{
    @Test
    void testS3()
    {
        FileOrigins origins = FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "s3.endpoint", "http://s3:9000", "s3.region", "eu"), false);
        OriginId id = OriginId.of("s3", Optional.of("http://s3:9000"), Optional.of("eu"));
        assertThat(origins.origins()).containsExactly(new NamedOrigin("lake", id));
        for (String scheme : new String[] {"s3", "s3a", "s3n"}) {
            assertThat(origins.find(scheme + "://bucket/key")).contains(new FileOrigin(0, id));
        }
        assertThat(origins.find("gs://bucket/key")).isEmpty();
        assertThat(origins.find("/key")).isEmpty();
    }

    @Test
    void testTwoEndpointsAreTwoOrigins()
    {
        assertThat(FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "s3.endpoint", "http://a:9000"), false).origins())
                .isNotEqualTo(FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "s3.endpoint", "http://b:9000"), false).origins());
    }

    @Test
    void testCredentialsAreDomains()
    {
        Map<String, String> one = Map.of("fs.s3.enabled", "true", "fs.hadoop.enabled", "true", "s3.aws-access-key", "K1", "s3.aws-secret-key", "s");
        Map<String, String> two = Map.of("fs.s3.enabled", "true", "fs.hadoop.enabled", "true", "s3.aws-access-key", "K2", "s3.aws-secret-key", "s");
        OriginId id = OriginId.of("s3", Optional.empty(), Optional.empty(), IsolationDomain.ofS3(one));
        assertThat(FileOrigins.of("lake", one, false).origins().getFirst()).isEqualTo(new NamedOrigin("lake", id));
        for (int index = 0; index < 2; index++) {
            // of S3 and of HDFS
            assertThat(FileOrigins.of("lake", one, false).origins().get(index)).isNotEqualTo(FileOrigins.of("lake", two, false).origins().get(index));
        }
        for (IsolationDomain domain : List.of(IsolationDomain.NONE, IsolationDomain.named("finance"))) {
            assertThat(FileOrigins.of("lake", one, Optional.of(domain), false).origins())
                    .isEqualTo(FileOrigins.of("lake", two, Optional.of(domain), false).origins())
                    .doesNotContainAnyElementsOf(FileOrigins.of("lake", one, false).origins());
        }
    }

    @ParameterizedTest
    @CsvSource({
            "gcs, gcs.json-key",
            "gcs, gcs.json-key-file-path",
            "azure, azure.access-key",
            "azure, azure.oauth.client-id",
            "azure, azure.user-assigned-managed-identity.client-id",
            "hadoop, hive.hdfs.trino.principal",
            "hadoop, hive.config.resources",
    })
    void testCredentialsOfOtherFileSystems(String fileSystem, String credential)
    {
        String enabled = "fs.%s.enabled".formatted(fileSystem);
        FileOrigins without = FileOrigins.of("lake", Map.of(enabled, "true"), false);
        FileOrigins one = FileOrigins.of("lake", Map.of(enabled, "true", credential, "one"), false);
        FileOrigins two = FileOrigins.of("lake", Map.of(enabled, "true", credential, "two"), false);
        assertThat(Set.of(without.origins().getFirst().id(), one.origins().getFirst().id(), two.origins().getFirst().id())).hasSize(3);
        assertThat(one.rights().getFirst().domain().description()).doesNotContain("one");
        assertThat(FileOrigins.of("lake", Map.of(enabled, "true", credential, "one"), Optional.of(IsolationDomain.named("d")), false).origins())
                .isEqualTo(FileOrigins.of("lake", Map.of(enabled, "true", credential, "two"), Optional.of(IsolationDomain.named("d")), false).origins());
    }

    @Test
    void testOldNames()
    {
        assertThat(FileOrigins.of("lake", Map.of("fs.native-s3.enabled", "true"), false).find("s3://bucket/key")).isPresent();
    }

    @Test
    void testOthersHaveNamesThatNoCacheWorkerKnows()
    {
        FileOrigins origins = FileOrigins.of("lake", Map.of("fs.s3.enabled", "true", "fs.gcs.enabled", "true", "fs.azure.enabled", "true", "fs.hadoop.enabled", "true"), false);
        assertThat(origins.origins()).extracting(NamedOrigin::name).containsExactly("lake", "lake.gs", "lake.abfs", "lake.hdfs");
        assertThat(origins.find("gs://bucket/key").orElseThrow().index()).isEqualTo(1);
        assertThat(origins.find("abfss://container@account/key").orElseThrow().index()).isEqualTo(2);
        assertThat(origins.find("hdfs://name/key").orElseThrow().index()).isEqualTo(3);
        assertThat(origins.find("hdfs:///key")).as("whose, the file system's defaults decide").isEmpty();
    }

    @Test
    void testOriginsThatOnlyClientsRead()
    {
        Map<String, String> properties = Map.of("fs.s3.enabled", "true", "fs.gcs.enabled", "true", "fs.hadoop.enabled", "true", "fs.local.enabled", "true");
        assertThat(FileOrigins.of("lake", properties, true).clientOrigins()).containsExactlyInAnyOrder("lake.gs", "lake.hdfs", "lake.local", "lake.file");
        assertThat(FileOrigins.of("lake", Map.of("fs.s3.enabled", "true"), true).clientOrigins()).isEmpty();
    }

    @Test
    void testLocalFilesOnlyIfAsked()
    {
        Map<String, String> properties = Map.of("fs.local.enabled", "true", "local.location", "/Data");
        assertThat(FileOrigins.of("lake", properties, false).find("local:///key")).isEmpty();
        FileOrigins origins = FileOrigins.of("lake", properties, true);
        assertThat(origins.find("local:///key")).isPresent();
        assertThat(origins.find("file:///key")).isPresent();
        assertThat(FileOrigins.of("lake", Map.of("fs.local.enabled", "true", "local.location", "/data"), true).find("local:///key"))
                .as("another directory")
                .isNotEqualTo(origins.find("local:///key"));
    }
}
