package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.fault.Fault;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TestConfigurationCheck
{
    private static final String CATALOG = "connector.name=cachedhive\ns3.region=a\n";

    @TempDir
    private Path directory;

    @BeforeEach
    void setUp()
            throws IOException
    {
        Files.createDirectories(directory.resolve("conf/catalog"));
        Files.createDirectories(directory.resolve("conf/origins"));
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG);
        Files.writeString(directory.resolve("conf/origins/default.properties"), "s3.region=a\n");
    }

    @Test
    void testSound()
            throws IOException, ClusterFileException
    {
        assertThat(check("worker-properties: {cache.ttl: 1d, http-server.threads.max: 10}\n")).isEmpty();
    }

    @Test
    void testFaults()
            throws IOException, ClusterFileException
    {
        assertThat(check("worker-properties: {cache.tll: 1d}\n")).singleElement().asString().contains("cache.tll", "correct it");
        assertThat(check("groups:\n  g: {hosts: [w1], zone: a}\n")).singleElement().asString().contains("some workers have a zone");
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG + "cachedhive.modus=ON\nfs.cache.enabled=true\nhive.cache.location=/a\n");
        assertThat(check("")).hasSize(3);
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG + "cachedhive.origin=blue\n");
        assertThat(check("")).singleElement().asString().contains("blue.properties");
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG.replace("=a", "=b"));
        assertThat(check("")).singleElement().asString().contains("s3.region=b, and the origin default has a");
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG);
        Files.writeString(directory.resolve("conf/origins/default.properties"), "s3.region=a\ns3.regoin=a\n");
        assertThat(check("")).singleElement().asString().contains("s3.regoin is no property of an origin");
    }

    @Test
    void testIsolationDomains()
            throws IOException, ClusterFileException
    {
        String key = "s3.aws-access-key=AKIAIOSFODNN7EXAMPLE\ns3.aws-secret-key=s\n";
        writeKeys(key, key);
        assertThat(check("")).isEmpty();
        writeKeys(key, "");
        assertThat(check("")).singleElement().asString()
                .contains("AKIA***MPLE, and the origin default has no isolation domain", "cachedhive.isolation-domain")
                .doesNotContain("AKIAIOSFODNN7EXAMPLE");
        writeKeys(key, key.replace("EXAMPLE", "ANOTHER"));
        assertThat(check("")).hasSize(1);
        writeKeys(key + "cachedhive.isolation-domain=lake\n", key.replace("EXAMPLE", "ANOTHER") + "isolation-domain=lake\n");
        assertThat(check("")).isEmpty();
        writeKeys(key + "cachedhive.shared-permissions=true\n", key.replace("EXAMPLE", "ANOTHER"));
        assertThat(check("")).hasSize(1);
        writeKeys(key + "cachedhive.shared-permissions=true\n", key.replace("EXAMPLE", "ANOTHER") + "shared-permissions=true\n");
        assertThat(check("")).isEmpty();
        // the values are known on the hosts only
        writeKeys(key.replace("AKIAIOSFODNN7EXAMPLE", "${ENV:KEY}"), key);
        assertThat(check("")).isEmpty();
    }

    private void writeKeys(String catalog, String origin)
            throws IOException
    {
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), CATALOG + catalog);
        Files.writeString(directory.resolve("conf/origins/default.properties"), "s3.region=a\n" + origin);
    }

    private List<String> check(String settings)
            throws IOException, ClusterFileException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1, w2]\nsecret-file: secret\nconfiguration-directory: conf\n" + settings);
        Cluster cluster = ClusterFile.read(file);
        return ConfigurationCheck.check(cluster, HostFiles.read(cluster)).stream().map(Fault::sentence).toList();
    }
}
