package io.cachedhive.plugin.config;

import com.google.common.collect.ImmutableMap;
import io.airlift.units.DataSize;
import io.airlift.units.Duration;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.memory.HitVerification;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static io.airlift.testing.ValidationAssertions.assertFailsValidation;
import static io.airlift.testing.ValidationAssertions.assertValidates;
import static io.airlift.units.DataSize.Unit.KILOBYTE;
import static io.airlift.units.DataSize.Unit.MEGABYTE;
import static io.airlift.units.DataSize.Unit.PETABYTE;
import static io.airlift.units.DataSize.Unit.TERABYTE;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.NO_PREFERENCE;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.SOFT_AFFINITY;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

class TestCachedHiveConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(CachedHiveConfig.class)
                .setMode(CacheMode.ON)
                .setClusterName("trino")
                .setOrigin("default")
                .setWorkerSocketPath("/run/cachedhive/worker.sock")
                .setWorkerPort(8484)
                .setSharedSecret(null)
                .setSharedSecretFile(null)
                .setChunkSize(DataSize.of(512, MEGABYTE))
                .setNodeSelectionStrategy(SOFT_AFFINITY)
                .setMaxScanSkew(0.25)
                .setCrossZoneReads(false)
                .setVerifySampleRatio(0)
                .setRamVerification(null)
                .setGracePeriod(new Duration(5, MINUTES))
                .setMinLiveShare(0.8)
                .setIsolationDomain(null)
                .setMaxWorkerWeight(DataSize.of(1, PETABYTE))
                .setSharedPermissions(false)
                .setCacheLocalFiles(false)
                .setFetchAhead(true)
                .setRulesFile(null)
                .setRulesRefreshPeriod(new Duration(2, SECONDS))
                .setAdminUsers(null));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put("cachedhive.mode", "OFF")
                .put("cachedhive.cluster-name", "adhoc")
                .put("cachedhive.origin", "lake")
                .put("cachedhive.worker.socket-path", "/tmp/worker.sock")
                .put("cachedhive.worker.port", "9999")
                .put("cachedhive.shared-secret", "open sesame")
                .put("cachedhive.shared-secret-file", "/etc/secret")
                .put("cachedhive.chunk-size", "64MB")
                .put("cachedhive.node-selection-strategy", "NO_PREFERENCE")
                .put("cachedhive.max-scan-skew", "0.1")
                .put("cachedhive.cross-zone-reads", "true")
                .put("cachedhive.verify-sample-ratio", "0.01")
                .put("cachedhive.ram-verification", "sampled")
                .put("cachedhive.grace-period", "30s")
                .put("cachedhive.min-live-share", "0.5")
                .put("cachedhive.isolation-domain", "finance")
                .put("cachedhive.worker.max-weight", "20TB")
                .put("cachedhive.cache-local-files", "true")
                .put("cachedhive.fetch-ahead", "false")
                .put("cachedhive.rules-file", "etc/cache-rules.json")
                .put("cachedhive.rules-refresh-period", "1m")
                .put("cachedhive.admin-users", "alice, group:operators")
                .buildOrThrow();

        CachedHiveConfig expected = new CachedHiveConfig()
                .setMode(CacheMode.OFF)
                .setClusterName("adhoc")
                .setOrigin("lake")
                .setWorkerSocketPath("/tmp/worker.sock")
                .setWorkerPort(9999)
                .setSharedSecret("open sesame")
                .setSharedSecretFile(Path.of("/etc/secret"))
                .setChunkSize(DataSize.of(64, MEGABYTE))
                .setNodeSelectionStrategy(NO_PREFERENCE)
                .setMaxScanSkew(0.1)
                .setCrossZoneReads(true)
                .setVerifySampleRatio(0.01)
                .setRamVerification(HitVerification.SAMPLED)
                .setGracePeriod(new Duration(30, SECONDS))
                .setMinLiveShare(0.5)
                .setIsolationDomain("finance")
                .setMaxWorkerWeight(DataSize.of(20, TERABYTE))
                .setCacheLocalFiles(true)
                .setFetchAhead(false)
                .setRulesFile("etc/cache-rules.json")
                .setRulesRefreshPeriod(new Duration(1, MINUTES))
                .setAdminUsers("alice, group:operators");
        assertFullMapping(properties, expected, Set.of("cachedhive.shared-permissions"));
        // the two contradict each other
        Map<String, String> shared = new HashMap<>(properties);
        shared.remove("cachedhive.isolation-domain");
        shared.put("cachedhive.shared-permissions", "true");
        assertFullMapping(shared, expected.setIsolationDomain(null).setSharedPermissions(true), Set.of("cachedhive.isolation-domain"));
    }

    @Test
    void testIsolationDomain()
    {
        assertThat(new CachedHiveConfig().configuredDomain()).isEmpty();
        assertThat(new CachedHiveConfig().setIsolationDomain("finance").configuredDomain()).contains(IsolationDomain.named("finance"));
        assertThat(new CachedHiveConfig().setSharedPermissions(true).configuredDomain()).contains(IsolationDomain.NONE);
        assertValidates(new CachedHiveConfig().setIsolationDomain("finance"));
        assertFailsValidation(
                new CachedHiveConfig().setIsolationDomain("finance").setSharedPermissions(true),
                "domainContradictory",
                "cachedhive.isolation-domain and cachedhive.shared-permissions=true contradict each other: remove one of them",
                jakarta.validation.constraints.AssertFalse.class);
    }

    @Test
    void testAdminUsers()
    {
        AdminUsers admins = new CachedHiveConfig().setAdminUsers("alice , group: operators,bob").getAdminUsers().orElseThrow();
        assertThat(admins).isEqualTo(new AdminUsers(Set.of("alice", "bob"), Set.of("operators")));
        assertThat(admins.contains("bob", Set.of())).isTrue();
        assertThat(admins.contains("carol", Set.of("readers", "operators"))).isTrue();
        assertThat(admins.contains("operators", Set.of("alice"))).isFalse();
        assertThat(admins.contains("Alice", Set.of())).isFalse();
    }

    @Test
    void testAdminUsersHaveNames()
    {
        assertValidates(new CachedHiveConfig().setAdminUsers("alice"));
        for (String value : List.of("", "alice,", "alice,,bob", "group:")) {
            assertFailsValidation(
                    new CachedHiveConfig().setAdminUsers(value),
                    "adminUsersNamed",
                    "cachedhive.admin-users has an empty name: separate the names of users and group:GROUP by single commas, or remove the property",
                    jakarta.validation.constraints.AssertTrue.class);
        }
    }

    @Test
    void testChunksAreOfWholeMegabytes()
    {
        assertValidates(new CachedHiveConfig().setChunkSize(DataSize.of(1, MEGABYTE)));
        assertFailsValidation(
                new CachedHiveConfig().setChunkSize(DataSize.of(1500, KILOBYTE)),
                "chunkSizeOfWholeMegabytes",
                "cachedhive.chunk-size must be a multiple of 1MB",
                jakarta.validation.constraints.AssertTrue.class);
    }
}
