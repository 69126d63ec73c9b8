package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestCatalogMigration
{
    @TempDir
    private Path directory;

    @Test
    void testIceberg()
    {
        assertThat(CatalogMigration.of("connector.name=iceberg\nfs.cache.enabled=true\nfs.cache.directories=/mnt/a\ns3.region=eu-1\n").catalog())
                .isEqualTo("connector.name=cachediceberg\ns3.region=eu-1\n");
        assertThat(CatalogMigration.of("connector.name=cachediceberg\ns3.region=eu-1\n").catalog()).isEqualTo("connector.name=cachediceberg\ns3.region=eu-1\n");
        assertThatThrownBy(() -> CatalogMigration.of("connector.name=delta_lake\n")).hasMessageContaining("only catalogs of the connectors hive and iceberg");
    }

    @Test
    void testFileSystemCache()
    {
        CatalogMigration migration = CatalogMigration.of("""
                # the lake
                connector.name=hive
                hive.metastore.uri=thrift://m:9083
                fs.cache.enabled=true
                fs.cache.directories=/mnt/a/cache,/mnt/b/cache/
                fs.cache.max-sizes=100GB,200GB
                fs.cache.ttl=3d
                fs.cache.page-size=2MB
                fs.cache.something-new=1
                s3.region=eu-1
                s3.aws-access-key=k
                """);

        assertThat(migration.catalog()).isEqualTo("""
                # the lake
                connector.name=cachedhive
                hive.metastore.uri=thrift://m:9083
                s3.region=eu-1
                s3.aws-access-key=k
                """);
        assertThat(migration.origin()).endsWith("s3.region=eu-1\ns3.aws-access-key=k\n");
        assertThat(migration.hostSettings()).containsExactly(
                "ssd:",
                "  - directory: /mnt/a/cache-cachedhive",
                "    size: 100GB",
                "  - directory: /mnt/b/cache-cachedhive",
                "    size: 200GB",
                "worker-properties:",
                "  cache.ttl: '3d'",
                "  cache.block-size: '2MB'");
        assertThat(migration.notes()).hasSize(2);
        assertThat(migration.notes().getFirst()).contains("fs.cache.something-new");
    }

    @Test
    void testIdentityIsThatOfTheCatalog()
    {
        for (String identity : List.of(
                "s3.aws-access-key=k\ns3.aws-secret-key=s\n",
                "s3.auth-type=IAM_ROLE\ns3.iam-role=arn:aws:iam::1:role/r\n",
                "s3.auth-type=ANONYMOUS\n",
                "s3.aws-access-key=k\ns3.aws-secret-key=s\ncachedhive.isolation-domain=finance\n",
                "s3.aws-access-key=k\ns3.aws-secret-key=s\ncachedhive.shared-permissions=true\n")) {
            CatalogMigration migration = CatalogMigration.of("connector.name=cachedhive\ns3.region=eu-1\n" + identity);
            assertThat(IsolationSettings.difference(PropertiesText.read(migration.catalog()), PropertiesText.read(migration.origin()), "default"))
                    .describedAs(identity)
                    .isEmpty();
            assertThat(KnownProperties.ofOrigins()).containsAll(PropertiesText.read(migration.origin()).keySet());
        }
    }

    @Test
    void testOlderCacheWithShares()
            throws IOException, ClusterFileException
    {
        CatalogMigration migration = CatalogMigration.of("""
                connector.name=hive-hadoop2
                hive.cache.enabled=true
                hive.cache.location=/mnt/a,/mnt/b
                hive.cache.disk-usage-percentage=70
                hive.cache.data-transfer-port=8898
                """);

        assertThat(migration.catalog()).isEqualTo("connector.name=cachedhive\n");
        assertThat(migration.hostSettings()).containsExactly(
                "ssd:",
                "  - directory: /mnt/a-cachedhive",
                "    percentage: 70",
                "  - directory: /mnt/b-cachedhive",
                "    percentage: 70");
        // the hosts file takes them, and the cache worker gets them
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [127.0.0.1]\n" + String.join("\n", migration.hostSettings()));
        Cluster cluster = ClusterFile.read(file);
        assertThat(HostFiles.read(cluster).of(cluster.hosts().getFirst())).filteredOn(host -> host.path().endsWith("/config.properties")).singleElement()
                .extracting(HostFile::content).asString()
                .contains("\ncache.ssd.directories=/mnt/a-cachedhive,/mnt/b-cachedhive\n", "\ncache.ssd.max-disk-usage-percentages=70,70\n")
                .doesNotContain("\ncache.ssd.max-sizes");
    }

    @Test
    void testSharesOfEachDisk()
    {
        assertThat(CatalogMigration.of("""
                connector.name=hive
                fs.cache.enabled=true
                fs.cache.directories=/mnt/a,/mnt/b
                fs.cache.max-disk-usage-percentages=60, 90
                """).hostSettings()).contains("    percentage: 60", "    percentage: 90");
    }

    @Test
    void testOtherConnectors()
    {
        assertThatThrownBy(() -> CatalogMigration.of("connector.name=delta_lake\n")).hasMessageContaining("connector.name is delta_lake");
        assertThatThrownBy(() -> CatalogMigration.of("")).hasMessageContaining("connector.name is missing");
    }
}
