package io.cachedhive.packages;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static io.cachedhive.packages.BuiltPackages.VERSION;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.TestInstance.Lifecycle.PER_CLASS;

/**
 * {@code cache-admin config migrate} and {@code config check} of the unpacked package, on catalogs that a cache worker or Trino would refuse, or of which nothing
 * can be cached.
 */
@TestInstance(PER_CLASS)
@Tag("slow")
class TestBadCatalogs
{
    private static final String HIVE = "connector.name=hive\nhive.metastore.uri=thrift://metastore:9083\n";
    private static final int EXIT_PROBLEMS = 4;

    @TempDir
    private static Path directory;
    private Path program;

    @BeforeAll
    void unpack()
            throws Exception
    {
        String top = "cachedhive-%s/".formatted(VERSION);
        Result unpacked = run(List.of("tar", "xzf", BuiltPackages.bundle().toString(), "-C", directory.toString(), top + "admin", top + "worker"));
        assertThat(unpacked.exitCode()).as(unpacked.output()).isZero();
        program = directory.resolve(top).resolve("admin/bin/cache-admin");
    }

    @Test
    void testMigration()
            throws Exception
    {
        assertThat(migrate("delta", "connector.name=delta_lake\n")).satisfies(result -> {
            assertThat(result.exitCode()).isNotZero();
            assertThat(result.output()).contains("connector.name is delta_lake, and only catalogs of the connectors hive and iceberg can be migrated");
        });
        assertThat(migrate("nameless", "s3.region=a\n").output()).contains("connector.name is missing");
        assertThat(migrate("gcs", HIVE + "fs.gcs.enabled=true\ngcs.project-id=p\n").output()).contains("names no S3 store");
        assertThat(directory.resolve("migrated/origins/gcs.properties")).doesNotExist();
        assertThat(migrate("mapping", HIVE + "s3.region=a\ns3.security-mapping.config-file=m.json\n").output()).contains("s3.security-mapping.config-file: who may read what");
        assertThat(migrate("keys", HIVE + "s3.region=a\ns3.sse.type=CUSTOMER\ns3.sse.customer-key=k\n").output())
                .contains("s3.sse.type: objects with customer-provided keys", "s3.sse.customer-key: objects with customer-provided keys");
        assertThat(migrate("unknown", HIVE + "s3.region=a\ns3.regoin=a\n").output()).contains("s3.regoin was not copied to the origin");
        assertThat(migrate("other", HIVE + "s3.region=a\nfs.cache.enabled=true\nfs.cache.something=1\n").output()).contains("fs.cache.something=1 has no counterpart");
    }

    /**
     * All origins in one run, because each run starts a JVM with the cache worker's parser.
     */
    @Test
    void testParserOfTheCacheWorker()
            throws Exception
    {
        Path configuration = directory.resolve("refused");
        Map<String, String> origins = Map.of(
                "role", "s3.iam-role=arn:aws:iam::1:role/r\n",
                "halfkey", "s3.aws-access-key=k\n",
                "number", "s3.max-connections=many\n",
                "duration", "s3.socket-timeout=soon\n",
                "choice", "s3.auth-type=PASSWORD\n",
                "customer", "s3.sse.type=CUSTOMER\n",
                "sound", "s3.aws-access-key=${ENV:KEY_OF_THE_WORKERS}\ns3.aws-secret-key=${ENV:SECRET_OF_THE_WORKERS}\n");
        for (Map.Entry<String, String> origin : origins.entrySet()) {
            Result migrated = migrate(origin.getKey(), HIVE + "s3.region=a\n" + origin.getValue(), configuration);
            assertThat(migrated.exitCode()).as(migrated.output()).isZero();
        }
        Path hosts = Files.writeString(directory.resolve("cache-admin.yaml"), "workers: [127.0.0.1]\nconfiguration-directory: %s\n".formatted(configuration));

        Result check = run(List.of(program.toString(), "config", "check", "--config", hosts.toString()));

        assertThat(check.exitCode()).as(check.output()).isEqualTo(EXIT_PROBLEMS);
        assertRefused(check, "role", "s3.iam-role must be set when, and only when, s3.auth-type=IAM_ROLE");
        assertRefused(check, "halfkey", "s3.aws-access-key and s3.aws-secret-key must be set together");
        assertRefused(check, "number", "s3.max-connections");
        assertRefused(check, "duration", "s3.socket-timeout");
        assertRefused(check, "choice", "s3.auth-type");
        assertRefused(check, "customer", "s3.sse.type=CUSTOMER is not honoured");
        assertThat(check.output()).doesNotContain("sound.properties");
    }

    private static void assertRefused(Result check, String origin, String reason)
    {
        assertThat(check.output().lines()).as("%s in %s", reason, check.output()).anyMatch(line -> line.contains(origin + ".properties") && line.contains(reason));
    }

    private Result migrate(String name, String catalog)
            throws Exception
    {
        return migrate(name, catalog, directory.resolve("migrated"));
    }

    private Result migrate(String name, String catalog, Path configuration)
            throws Exception
    {
        Path file = Files.writeString(directory.resolve(name + ".properties"), catalog);
        return run(List.of(program.toString(), "config", "migrate", file.toString(), "--to", configuration.toString(), "--origin", name));
    }

    private record Result(int exitCode, String output) {}

    private static Result run(List<String> command)
            throws IOException, InterruptedException
    {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Result(process.waitFor(), output);
    }
}
