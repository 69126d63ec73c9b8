package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterHost;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestInitCommand
{
    @TempDir
    private Path directory;

    private record Outcome(int code, String out, String error) {}

    private Path file()
    {
        return directory.resolve("new.yaml");
    }

    private Outcome run(String... arguments)
    {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--config", file().toString()));
        StringWriter out = new StringWriter();
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(out), new PrintWriter(error), false), all.toArray(String[]::new));
        return new Outcome(code, out.toString(), error.toString());
    }

    @Test
    void testAmazon()
            throws Exception
    {
        Outcome written = run("init", "--coordinators", "c.example.net", "--workers", "w[1-3].example.net,w9", "--metastore", "thrift://m:9083", "--region", "eu-west-1");
        assertThat(written.code()).as(written.toString()).isEqualTo(ExitCode.OK);
        assertThat(written.error()).contains("wrote " + file(), "Next: cache-admin config check");
        Outcome checked = run("config", "check");
        assertThat(checked.code()).as(checked.toString()).isEqualTo(ExitCode.OK);

        Cluster cluster = ClusterFile.read(file());
        assertThat(cluster.workers()).extracting(ClusterHost::name).containsExactly("w1.example.net", "w2.example.net", "w3.example.net", "w9");
        assertThat(cluster.trinoUrl()).contains("http://c.example.net:8080");
        assertThat(cluster.configurationDirectory()).isEqualTo(directory.resolve("new.d"));
        assertThat(cluster.secretFile()).contains(directory.resolve("new.secret"));
        assertThat(settings("catalog/lake")).containsExactly("connector.name=cachedhive", "hive.metastore.uri=thrift://m:9083", "s3.region=eu-west-1");
        assertThat(settings("origins/default")).containsExactly("s3.region=eu-west-1");
        // keys will be added to them
        for (Path path : List.of(file(), directory.resolve("new.d/catalog/lake.properties"), directory.resolve("new.d/origins/default.properties"))) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path))).isEqualTo("rw-------");
        }
    }

    @Test
    void testAllOptions()
            throws Exception
    {
        Outcome written = run("init", "--cluster", "staging", "--coordinators", "c", "--workers", "w1", "--trino-home", "/opt/trino", "--trino-url", "https://lb:8443",
                "--ram-size", "8GB",
                "--ssd", "/mnt/a=10GB", "--ssd", "/mnt/b=20GB", "--catalog", "web", "--metastore", "glue", "--endpoint", "http://minio:9000");
        assertThat(written.code()).as(written.toString()).isEqualTo(ExitCode.OK);
        Outcome checked = run("config", "check");
        assertThat(checked.code()).as(checked.toString()).isEqualTo(ExitCode.OK);

        Cluster cluster = ClusterFile.read(file());
        assertThat(cluster.name()).isEqualTo("staging");
        assertThat(cluster.trinoUrl()).contains("https://lb:8443");
        ClusterHost worker = cluster.workers().getFirst();
        assertThat(worker.trinoHome()).contains("/opt/trino");
        assertThat(worker.ssd()).hasSize(2);
        assertThat(worker.ssd().get(1).path()).isEqualTo("/mnt/b");
        assertThat(Files.readString(file())).contains("\nram-size: 8GB\n");
        assertThat(settings("catalog/web"))
                .containsExactly("connector.name=cachedhive", "hive.metastore=glue", "s3.endpoint=http://minio:9000", "s3.path-style-access=true");
        assertThat(settings("origins/default")).containsExactly("s3.endpoint=http://minio:9000", "s3.path-style-access=true");
    }

    /**
     * The region and the credentials come from the environment.
     */
    @Test
    void testSmallest()
            throws IOException
    {
        assertThat(run("init", "--coordinators", "c", "--workers", "w", "--metastore", "glue").code()).isEqualTo(ExitCode.OK);
        Outcome checked = run("config", "check");
        assertThat(checked.code()).as(checked.toString()).isEqualTo(ExitCode.OK);
        assertThat(settings("catalog/lake")).containsExactly("connector.name=cachedhive", "hive.metastore=glue", "fs.s3.enabled=true");
        assertThat(settings("origins/default")).isEmpty();
    }

    @Test
    void testOverwritesNothing()
            throws IOException
    {
        Path origin = directory.resolve("new.d/origins/default.properties");
        Files.createDirectories(origin.getParent());
        Files.writeString(origin, "s3.region=mine\n");
        Outcome refused = run("init", "--coordinators", "c", "--workers", "w", "--metastore", "glue");
        assertThat(refused.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(refused.error()).contains(origin + " exists, and init overwrites nothing");
        assertThat(origin).hasContent("s3.region=mine");
        assertThat(file()).doesNotExist();
    }

    @Test
    void testWritesNothing()
            throws IOException
    {
        Outcome dry = run("init", "--coordinators", "c", "--workers", "w", "--metastore", "glue", "--dry-run");
        assertThat(dry.code()).isEqualTo(ExitCode.OK);
        assertThat(dry.error()).contains("would write " + file());
        assertThat(run("init", "--coordinators", "c", "--metastore", "glue").code()).isEqualTo(ExitCode.WRONG_USAGE);
        for (String wrong : List.of("a: b", "x\ny", "#", "\"", "{a}")) {
            assertThat(run("init", "--coordinators", "c", "--workers", wrong, "--metastore", "glue").code()).as(wrong).isEqualTo(ExitCode.WRONG_USAGE);
            assertThat(run("init", "--coordinators", "c", "--workers", "w", "--metastore", wrong).code()).as(wrong).isEqualTo(ExitCode.WRONG_USAGE);
        }
        assertThat(run("init", "--coordinators", "c", "--workers", "w", "--metastore", "glue", "--catalog", "a/b").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("init", "--coordinators", "c", "--workers", "w", "--metastore", "glue", "--ram-size", "much").code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
    }

    private List<String> settings(String name)
            throws IOException
    {
        return Files.readAllLines(directory.resolve("new.d").resolve(name + ".properties")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .toList();
    }
}
