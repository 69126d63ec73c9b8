package io.cachedhive.trino.connector;

import io.trino.spi.TrinoException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestCatalogProperties
{
    @Test
    void testRefusesFileSystemCache()
    {
        assertThatThrownBy(() -> new CatalogProperties("lake", Map.of("fs.cache.enabled", "true"), Set.of("hive.hdfs.impersonation.enabled")).refuseFileSystemCache())
                .isInstanceOf(TrinoException.class)
                .hasMessage("Catalog lake has fs.cache.enabled=true, but cachedhive is the cache of its files already: "
                        + "remove the fs.cache.* properties, see docs/operations/migrate.md");
        assertThatCode(() -> new CatalogProperties("lake", Map.of("fs.cache.enabled", "false"), Set.of("hive.hdfs.impersonation.enabled")).refuseFileSystemCache())
                .doesNotThrowAnyException();
        assertThatCode(() -> new CatalogProperties("lake", Map.of(), Set.of("hive.hdfs.impersonation.enabled")).refuseFileSystemCache())
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({
            "s3.security-mapping.enabled,true",
            "s3.sse.type,CUSTOMER",
            "gcs.auth-type,ACCESS_TOKEN",
            "gcs.use-access-token,true",
            "hive.hdfs.impersonation.enabled,true",
    })
    void testFindsPermissionsByUser(String name, String value)
    {
        assertThat(new CatalogProperties("lake", Map.of(name, value), Set.of("hive.hdfs.impersonation.enabled")).findPermissionsByUser())
                .contains(("catalog lake is read without the cache, because with %s=%s the origin decides by user who may read what: "
                        + "set cachedhive.shared-permissions=true if Trino's access control is enough").formatted(name, value));
    }

    @ParameterizedTest
    @CsvSource({
            "s3.security-mapping.enabled,false",
            "s3.sse.type,KMS",
            "s3.region,eu-central-1",
    })
    void testFindsNoPermissionsByUser(String name, String value)
    {
        assertThat(new CatalogProperties("lake", Map.of(name, value), Set.of("hive.hdfs.impersonation.enabled")).findPermissionsByUser()).isEmpty();
    }

    @Test
    void testTrinoVersion()
    {
        assertThatCode(() -> TrinoVersion.check("483")).doesNotThrowAnyException();
        for (String version : List.of("483-corp.2", "483.1", "483+17", "483-SNAPSHOT")) {
            assertThatCode(() -> TrinoVersion.check(version)).as(version).doesNotThrowAnyException();
        }
        for (String version : List.of("483corp", "483-", "482-corp.2", "corp-483")) {
            assertThatThrownBy(() -> TrinoVersion.check(version)).as(version).isInstanceOf(TrinoException.class);
        }
        assertThatThrownBy(() -> TrinoVersion.check("484"))
                .isInstanceOf(TrinoException.class)
                .hasMessage("This cachedhive plugin works with Trino 483 only, and this is Trino 484: install the plugin that was built for it");
    }

    @Test
    void testSettingsOfS3EnableIt()
    {
        assertThat(complete(Map.of("s3.region", "eu-west-1"))).isEqualTo(Map.of("s3.region", "eu-west-1", "fs.s3.enabled", "true"));
        // what the catalog says holds
        for (String name : List.of("fs.s3.enabled", "fs.native-s3.enabled")) {
            for (String value : List.of("true", "false")) {
                assertThat(complete(Map.of("s3.region", "eu-west-1", name, value))).isEqualTo(Map.of("s3.region", "eu-west-1", name, value));
            }
        }
        assertThat(complete(Map.of("hive.metastore", "glue", "gcs.project-id", "p"))).isEqualTo(Map.of("hive.metastore", "glue", "gcs.project-id", "p"));
    }

    private static Map<String, String> complete(Map<String, String> properties)
    {
        return new CatalogProperties("lake", properties, Set.of()).withFileSystems();
    }
}
