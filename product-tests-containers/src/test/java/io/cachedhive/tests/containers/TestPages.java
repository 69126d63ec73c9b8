package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3RequestLog;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.tests.containers.Page.Code;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Does what the pages for operators say, with their own commands, files and statements, in their order, on hosts with a running Trino whose catalog is called
 * {@code lake}. Between the code there is what they leave to the reader: names of hosts, and restarts of Trino.
 */
// before those whose cluster runs on until the end: not more hosts at once than needed
@Test(groups = "pages", singleThreaded = true, priority = -1)
public class TestPages
{
    static final String README_SECTION = "Installation";
    static final String WRITES_HOSTS_FILE = "# writes ~/.cache-admin.yaml";
    /**
     * Between back quotes, in the text.
     */
    static final Pattern STATEMENT = Pattern.compile("`(SELECT [^`]+)`");
    static final List<String> ROLLOUT_SECTIONS = List.of(
            "1. Install and check the configuration",
            "2. Predict the hit rate in SHADOW mode",
            "3. Enable the cache for one team",
            "4. Cache a share of all files: 5, 25, 100 %",
            "5. Rename the catalog");
    static final String REFRESH_RULES = "CALL lake_cached.system.refresh_cache_rules()";

    // of rows within two seconds after they were written it is not certain that they are not replaced unseen
    private static final Duration SETTLED_AFTER = Duration.ofSeconds(3);
    private static final String CATALOGS = HostCluster.TRINO_HOME + "/etc/catalog/";
    private static final String PREFIX = "warehouse/shop.db/read/";

    private HostCluster hosts;
    private String version;

    @BeforeClass
    public void startCluster()
            throws Exception
    {
        hosts = HostCluster.start("pages", 2, Map.of());
        hosts.startStorage();
        for (ContainerHost host : hosts.trinoHosts()) {
            host.mustRun("mv %1$shive.properties %1$slake.properties".formatted(CATALOGS));
        }
        version = Administrator.copyRelease(hosts.admin(), "/root");
        hosts.startTrino();
        rows("lake", "CREATE SCHEMA lake.shop");
        rows("lake", "CREATE TABLE lake.shop.read WITH (format = 'ORC') AS SELECT orderkey, partkey, quantity, comment FROM tpch.\"sf0.1\".lineitem");
        long written = System.nanoTime();
        Await.until("the table is old enough", Patience.LIMIT, () -> System.nanoTime() - written > SETTLED_AFTER.toNanos());
    }

    @AfterClass(alwaysRun = true)
    public void stopCluster()
    {
        if (hosts != null) {
            hosts.close();
        }
    }

    public void testReadme()
            throws Exception
    {
        Page page = Page.read("README.md").section(README_SECTION);
        Map<ContainerHost, FileListing> bare = new LinkedHashMap<>();
        hosts.trinoHosts().forEach(host -> bare.put(host, FileListing.of(host)));
        List<List<Object>> expected = checksum("anybody", "lake");
        ContainerHost admin = hosts.admin();
        admin.write("/root/lake.properties", hosts.coordinator().mustRun("cat %slake.properties".formatted(CATALOGS)));

        List<String> commands = page.code("").lines();
        assertThat(commands).hasSizeGreaterThan(5);
        List<String> done = new ArrayList<>();
        for (String command : commands) {
            done.add(command);
            boolean writesHostsFile = command.contains(WRITES_HOSTS_FILE);
            // all in one shell, of which no more than PATH matters
            String before = done.size() == 1 ? "" : commands.getFirst().substring(commands.getFirst().indexOf("PATH="));
            CommandResult result = admin.run("cd /root\n%s\n%s".formatted(before, command).replace("VERSION", version));
            hosts.say("%s%n%s", command, result.text());
            // the first one asks for the names of hosts
            assertThat(result.exitCode()).as("%s%n%s", command, result.text()).isEqualTo(writesHostsFile ? 3 : 0);
            if (writesHostsFile) {
                nameHosts(admin);
            }
        }
        hosts.restartTrino();
        String statement = STATEMENT.matcher(page.text()).results().findFirst().orElseThrow().group(1);
        Await.until("the coordinator hears of both cache workers", Patience.LIMIT, QUERY_PAUSE, () -> rows("lake", statement).size() == 2);

        assertThat(checksum("anybody", "lake")).isEqualTo(expected);
        checkCached("once cached", "anybody", "lake", expected);
        run(page, "cache-admin disable");
        assertThat(gets("anybody", "lake", expected)).as("past the cache").isPositive();
        run(page, "cache-admin uninstall");
        for (ContainerHost host : hosts.trinoHosts()) {
            // Trino runs beside it, and writes its log
            assertThat(FileListing.of(host).changesSince(bare.get(host)).keySet()).as("left on %s beside data and logs", host)
                    .allMatch(path -> path.startsWith(HostCluster.TRINO_HOME + "/var") || path.startsWith(Administrator.INSTALL_DIRECTORY));
        }
        admin.mustRun("rm -rf /root/.cache-admin.d");
        hosts.restartTrino();
        assertThat(checksum("anybody", "lake")).isEqualTo(expected);
    }

    @Test(dependsOnMethods = "testReadme", priority = -1)
    public void testRollout()
            throws Exception
    {
        Page page = Page.read("docs/operations/rollout.md");
        String back = page.code("sql").text().strip();
        List<List<Object>> expected = checksum("anybody", "lake");
        ContainerHost admin = hosts.admin();
        ContainerHost coordinator = hosts.coordinator();

        Page first = page.section(ROLLOUT_SECTIONS.get(0));
        String cached = coordinator.mustRun("cat %slake.properties".formatted(CATALOGS)).replace("connector.name=hive", "connector.name=cachedhive") +
                first.code("properties").text();
        admin.write("/root/.cache-admin.d/catalog/lake_cached.properties", cached);
        admin.write("/root/.cache-admin.d/origins/default.properties", HostCluster.text(HostCluster.s3Properties()));
        for (String command : first.code("").lines()) {
            run(command);
        }
        writeRules(first.code("json"));
        hosts.restartTrino();
        String states = first.code("sql").text().strip().replace(";", "");
        Await.until("the coordinator hears of both cache workers", Patience.LIMIT, QUERY_PAUSE, () -> rows("lake_cached", states).size() == 2);
        assertThat(rows("lake_cached", states)).allSatisfy(row -> {
            assertThat(row.get(1)).isEqualTo("RUNNING");
            assertThat(String.valueOf(row.get(2))).containsAnyOf("SHADOW", "null");
        });

        Page second = page.section(ROLLOUT_SECTIONS.get(1));
        assertThat(gets("anybody", "lake_cached", expected)).isPositive();
        assertThat(gets("anybody", "lake_cached", expected)).as("in mode SHADOW").isPositive();
        // there are rows before anything was read; a prediction is there only after reads in this mode
        String predicted = second.code("sql").text().strip().replace(";", "");
        Await.until("a hit rate is predicted for each capacity", Patience.LIMIT, QUERY_PAUSE, () -> rows("lake_cached", predicted).stream().allMatch(row -> row.get(1) != null));
        // both reads were of the same blocks, which the largest capacity would have kept
        assertThat(rows("lake_cached", predicted)).extracting(row -> row.getFirst()).contains(1.0, 16.0);
        assertThat((double) rows("lake_cached", predicted + " ORDER BY capacity_multiple").getLast().get(1)).isPositive();

        Page third = page.section(ROLLOUT_SECTIONS.get(2));
        writeRules(third.code("json"));
        refreshRules();
        gets("finance-1", "lake_cached", expected);
        checkCached("of the first team", "finance-1", "lake_cached", expected);
        assertThat(gets("sales-1", "lake_cached", expected)).as("of all others").isPositive();
        assertThat(rows("lake_cached", third.code("sql").text().strip().replace(";", ""))).hasSize(2);

        Page fourth = page.section(ROLLOUT_SECTIONS.get(3));
        Code rules = fourth.code("json");
        for (String sample : List.of("0.05", "0.25", "1")) {
            assertThat(rules.text()).contains("\"sample\": 0.05");
            writeRules(new Code("json", rules.text().replace("0.05", sample)));
            refreshRules();
            checksum("sales-1", "lake_cached");
        }
        checkCached("of all teams", "sales-1", "lake_cached", expected);
        assertThat(fourth.text()).contains("`lake_cached.cache.rules`");
        assertThat(rows("lake_cached", "SELECT matched_scans > 0 FROM lake_cached.cache.rules WHERE name = 'rollout'")).isEqualTo(List.of(List.of(true)));
        // until the next restart
        rows("lake_cached", back);
        assertThat(gets("finance-1", "lake_cached", expected)).as("on the way back").isPositive();

        Page fifth = page.section(ROLLOUT_SECTIONS.get(4));
        for (ContainerHost host : hosts.trinoHosts()) {
            host.mustRun("set -e\ncd %s\n%s".formatted(HostCluster.TRINO_HOME, fifth.code("").text()));
            host.mustRun("sed -i 's/^cachedhive.mode=SHADOW/cachedhive.mode=ON/' %slake.properties".formatted(CATALOGS));
        }
        String catalogs = "/root/.cache-admin.d/catalog";
        admin.mustRun("cd %s && mv lake_cached.properties lake.properties && sed -i 's/^cachedhive.mode=SHADOW/cachedhive.mode=ON/' lake.properties".formatted(catalogs));
        run("cache-admin config diff");
        writeRules(first.code("json"));
        hosts.restartTrino();
        Await.until("the coordinator hears of both cache workers", Patience.LIMIT, QUERY_PAUSE, () -> rows("lake", states.replace("lake_cached", "lake")).size() == 2);
        assertThat(checksum("anybody", "lake_plain")).isEqualTo(expected);
        checkCached("under the new name", "anybody", "lake", expected);
        assertThat(fifth.code("sql").text().strip()).isEqualTo(back.replace("lake_cached", "lake"));
        String leftOut = "SET SESSION lake.cache_enabled = false";
        assertThat(fifth.text()).contains("`%s`".formatted(leftOut));
        assertThat(getsAfter(leftOut, "anybody", "lake", expected)).as("in a session without the cache").isPositive();
        rows("lake", fifth.code("sql").text().strip());
        assertThat(gets("anybody", "lake", expected)).as("on the way back").isPositive();
    }

    /**
     * What the example asks for, and the sizes of these small hosts.
     */
    private void nameHosts(ContainerHost admin)
    {
        String example = admin.mustRun("cat /root/.cache-admin.yaml");
        assertThat(example).contains("<coordinator.example.net>", "<worker[1-3].example.net>", "trino-home: /usr/lib/trino", "ram-size: 1GB", "#ssh-user: trino", "#trino-url:");
        admin.write("/root/.cache-admin.yaml", example
                .replace("<coordinator.example.net>", "coordinator")
                .replace("<worker[1-3].example.net>", "worker-[1-2]")
                .replace("trino-home: /usr/lib/trino", "trino-home: " + HostCluster.TRINO_HOME)
                .replace("#ssh-user: trino", "ssh-user: root")
                .replaceFirst("#trino-url: .*", "trino-url: http://coordinator:%s".formatted(Ports.TRINO))
                .replaceFirst("(?m)^ram-size: 1GB", "ram-size: 128MB")
                .replaceFirst("(?m)^heap-size: 1GB", "heap-size: 512MB"));
    }

    /**
     * A command that a page names.
     */
    private void run(Page page, String command)
    {
        assertThat(page.text()).contains("`%s`".formatted(command));
        run(command);
    }

    private void run(String command)
    {
        CommandResult result = hosts.admin().run("cd /root\nPATH=\"$PWD/cachedhive-%1$s/admin/bin:$PATH\"\n%2$s".formatted(version, command.replace("VERSION", version)));
        hosts.say("%s%n%s", command, result.text());
        assertThat(result.exitCode()).as("%s%n%s", command, result.text()).isZero();
    }

    private void writeRules(Code rules)
    {
        hosts.admin().write("/root/cache-rules.json", rules.text());
        run("cache-admin rules check cache-rules.json");
        hosts.coordinator().write(HostCluster.TRINO_HOME + "/etc/cache-rules.json", rules.text());
    }

    private void refreshRules()
            throws Exception
    {
        rows("lake_cached", REFRESH_RULES);
    }

    private List<List<Object>> rows(String catalog, String sql)
            throws Exception
    {
        try (SqlConnection connection = hosts.connectAs("anybody", catalog)) {
            QueryResult result = connection.query(sql);
            return result.rows();
        }
    }

    private static List<List<Object>> checksum(SqlConnection connection, String catalog)
            throws Exception
    {
        String checksums = "SELECT count(*), to_hex(checksum(orderkey)), to_hex(checksum(partkey)), to_hex(checksum(quantity)), to_hex(checksum(comment)) FROM ";
        return connection.query(checksums + catalog + ".shop.read").rows();
    }

    private List<List<Object>> checksum(String user, String catalog)
            throws Exception
    {
        try (SqlConnection connection = hosts.connectAs(user, catalog)) {
            return checksum(connection, catalog);
        }
    }

    /**
     * On a slow machine a cache worker may be silent for too long once, and its reader asks the object store.
     */
    private void checkCached(String what, String user, String catalog, List<List<Object>> expected)
            throws Exception
    {
        Await.until("no data file is asked for, " + what, Patience.LIMIT, QUERY_PAUSE, () -> gets(user, catalog, expected) == 0);
    }

    private long gets(String user, String catalog, List<List<Object>> expected)
            throws Exception
    {
        S3RequestLog log = hosts.s3Log();
        long mark = log.mark();
        assertThat(checksum(user, catalog)).isEqualTo(expected);
        return DataFiles.gets(log, mark, PREFIX);
    }

    private long getsAfter(String statement, String user, String catalog, List<List<Object>> expected)
            throws Exception
    {
        S3RequestLog log = hosts.s3Log();
        try (SqlConnection connection = hosts.connectAs(user, catalog)) {
            connection.query(statement);
            long mark = log.mark();
            assertThat(checksum(connection, catalog)).isEqualTo(expected);
            return DataFiles.gets(log, mark, PREFIX);
        }
    }
}
