package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.SharedSecretFile;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.tests.architecture.ProjectModule;
import org.testng.SkipException;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;
import org.yaml.snakeyaml.Yaml;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page of {@code cache-admin ui} in a browser, with the state of real cache workers. The test writes pictures of the page to {@code target/ui}.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "statistics", singleThreaded = true)
public class TestAdminPage
{
    private static final List<String> SOURCES = List.of("ram_hit_bytes", "ssd_hit_bytes", "non_local_hit_bytes", "remote_read_bytes", "bypass_bytes");
    private static final List<String> TABLES = List.of("lineitem", "orders", "customer", "part");
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Path PICTURES = Path.of("target", "ui").toAbsolutePath();

    // the heads of tables are hidden in narrow windows
    private static final String TOO_WIDE =
            """
            [...document.querySelectorAll('section, section *:not(thead *, thead):not(svg *)')]
                .filter(element => getComputedStyle(element).display !== 'inline' && element.clientWidth > 0)
                .filter(element => element.getBoundingClientRect().right > %s || element.scrollWidth > element.clientWidth + 1)
                .map(element => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 40))
                .join('; ')
            """;

    private TestingCluster testing;
    private Process page;
    private Chromium browser;

    @BeforeClass
    public void start()
            throws Exception
    {
        if (!Files.isExecutable(Chromium.PROGRAM)) {
            throw new SkipException("%s is missing: install chromium (Debian: apt-get install chromium)".formatted(Chromium.PROGRAM));
        }
        testing = SharedCluster.TWO_HOSTS.get();
        URI address = startPage();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.shop");
            for (String table : TABLES) {
                connection.query("CREATE TABLE cachedhive.shop.%1$s WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.%1$s".formatted(table));
            }
            OldFiles.await(connection, "shop." + TABLES.getLast());
        }
        browser = new Chromium(TestingCluster.emptyDirectory("chromium"));
        browser.open(address);
        Await.until("the page shows data", PATIENCE, () -> browser.evaluate("document.body !== null && document.body.dataset.shown").equals("true"));
    }

    /**
     * Starts {@code cache-admin ui} for all cache workers.
     *
     * @return the address that it prints
     */
    private URI startPage()
            throws IOException
    {
        Path jar = ProjectModule.findRoot().resolve("admin-cli/target/cache-admin.jar");
        assertThat(jar).as("cache-admin: run mvn package -DskipTests -pl admin-cli -am").exists();
        List<ClusterNode> workers = testing.cluster().cacheWorkers();
        SharedSecretFile secret = new SharedSecretFile(TestingCluster.emptyDirectory("admin-page").resolve("secret"));
        secret.write(List.of(((CacheWorkerHome) workers.getFirst().home()).sharedSecret()));
        page = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-jar",
                jar.toString(),
                "ui",
                "--hosts",
                workers.stream().map(worker -> worker.httpUri().getAuthority()).collect(joining(",")),
                "--secret-file",
                secret.path().toString(),
                "--interval",
                "500ms")
                .redirectError(secret.path().resolveSibling("output.log").toFile())
                .start();
        String line = page.inputReader(UTF_8).readLine();
        assertThat(line).as("the address; see " + secret.path().resolveSibling("output.log")).startsWith("http://127.0.0.1:");
        return URI.create(line);
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws InterruptedException
    {
        if (browser != null) {
            browser.close();
        }
        if (page != null) {
            page.destroy();
            page.waitFor(1, TimeUnit.MINUTES);
        }
    }

    @Test
    public void testPage()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "shop")) {
            Await.until("the hit rate changes", PATIENCE, Await.QUERY_PAUSE, () -> {
                for (String table : TABLES) {
                    connection.query("SELECT count(*), max(comment) FROM " + table);
                }
                return Integer.parseInt(browser.evaluate("received.data.history.filter(point => point[1] > 0).length")) >= 10;
            });
        }
        Await.untilAsserted("the page shows the sums of the cache workers", this::checkSums);
        assertThat(text("state")).isEqualTo("2 of 2 cache workers are RUNNING, no problems");
        assertThat(browser.evaluate("document.title")).isEqualTo("cachedhive: 2 of 2 running");
        assertThat(browser.evaluate("location.href")).as("address, without the token").endsWith("/ui");
        assertThat(browser.evaluate("document.cookie")).as("cookie, which scripts cannot read").isEmpty();
        assertThat(text("hit-rate")).matches("(?s)\\d+\\.\\d% of \\d.* in the last .*");
        assertThat(browser.evaluate("document.getElementById('line').getAttribute('d')")).startsWith("M").contains("H");
        // the counters of tables are read each 30 s only
        Await.untilAsserted("the page shows the tables", () -> {
            for (String table : TABLES) {
                assertThat(text("tables")).contains("cachedhive.shop." + table);
            }
        });
        for (ClusterNode worker : testing.cluster().cacheWorkers()) {
            assertThat(text("workers")).contains(worker.httpUri().getAuthority());
        }
        assertThat(browser.evaluate("document.getElementById('problems').hidden")).isEqualTo("true");
        assertThat(browser.evaluate("document.getElementById('stale').hidden")).isEqualTo("true");

        for (boolean dark : List.of(false, true)) {
            for (int width : List.of(1280, 1000, 800, 375, 320)) {
                browser.resize(width, 900, dark);
                assertFits(width);
            }
        }
        picture(1280, false, "ui-wide.png");
        picture(375, true, "ui-narrow.png");
        assertThat(browser.complaints()).isEmpty();
    }

    private void checkSums()
            throws Exception
    {
        long all = 0;
        for (String source : SOURCES) {
            long sum = 0;
            for (ClusterNode worker : testing.cluster().cacheWorkers()) {
                Map<String, Map<String, Number>> stats = new Yaml().load(TestingCluster.page(worker, "/v1/stats"));
                sum += stats.get("total").getOrDefault(source, 0).longValue();
            }
            all += sum;
            assertThat(browser.evaluate("document.querySelector('#sources .%s').closest('tr').children[1].textContent".formatted(source))).as(source).isEqualTo(bytes(sum));
        }
        assertThat(all).isPositive();
        assertThat(text("sources-since")).startsWith(bytes(all) + " read since ");
        assertThat(browser.evaluate("document.querySelector('#workers-total tr').children[4].textContent")).isEqualTo(bytes(all));
    }

    private static String bytes(long value)
    {
        double scaled = value;
        int unit = 0;
        while (scaled >= 1023.95) {
            scaled /= 1024;
            unit++;
        }
        return (unit == 0 ? Long.toString(value) : String.format(Locale.ROOT, "%.1f", scaled)) + '\u00a0' + List.of("B", "kB", "MB", "GB", "TB").get(unit);
    }

    private String text(String id)
            throws Exception
    {
        return browser.evaluate("document.getElementById('%s').textContent".formatted(id));
    }

    private void assertFits(int width)
            throws Exception
    {
        assertThat(browser.evaluate("document.documentElement.clientWidth")).isEqualTo(Integer.toString(width));
        assertThat(Integer.parseInt(browser.evaluate("document.documentElement.scrollWidth"))).as("width of the contents in a window of %s", width).isLessThanOrEqualTo(width);
        // nothing is cut off, either
        assertThat(browser.evaluate(TOO_WIDE.formatted(width))).as("contents that are too wide in a window of %s", width).isEmpty();
    }

    private void picture(int width, boolean dark, String name)
            throws Exception
    {
        browser.resize(width, 900, dark);
        browser.resize(width, Math.min(1600, Integer.parseInt(browser.evaluate("document.documentElement.scrollHeight"))), dark);
        browser.screenshot(PICTURES.resolve(name));
        assertThat(PICTURES.resolve(name)).isNotEmptyFile();
    }

    /**
     * Names with markup, problems, other versions and cache workers that do not answer, as the page would receive them.
     */
    @Test(dependsOnMethods = "testPage")
    public void testMarkupAndProblems()
            throws Exception
    {
        browser.evaluate(
                """
                (() => {
                    const markup = "<img src=x onerror='window.attacked = true'><b>name</b>";
                    const data = structuredClone(received.data);
                    data.tables.top[0].table = markup;
                    data.workers[0].host = markup;
                    data.workers[0].version = markup;
                    data.workers[1] = {host: markup, state: "UNREACHABLE", reachable: false};
                    data.running = 1;
                    data.versions = [{version: markup, hosts: ["one"]}, {version: "2", hosts: ["two", "three"]}];
                    data.problems = [{problem: markup, hosts: [markup, "two"]}];
                    data.object_store[0].description = markup;
                    data.disks[1].value = 5;
                    data.disks[1].hosts = [{host: markup, value: 5}];
                    paused = true;
                    clearTimeout(timer);
                    show(data);
                })()
                """);
        assertThat(browser.evaluate("document.querySelectorAll('img, b').length")).isEqualTo("0");
        for (String id : List.of("tables", "workers", "versions", "problem-list", "store", "disks")) {
            assertThat(text(id)).as(id).contains("<img src=x onerror='window.attacked = true'><b>name</b>");
        }
        assertThat(browser.evaluate("window.attacked")).isEqualTo("undefined");
        assertThat(text("state")).isEqualTo("1 of 2 cache workers is RUNNING, 1 problem, different versions");
        assertThat(text("versions")).startsWith("Different versions: ").contains("2 on two, three");
        assertThat(text("workers")).contains("UNREACHABLE");
        browser.resize(375, 900, false);
        assertFits(375);
        assertThat(browser.complaints()).isEmpty();
    }

    @Test(dependsOnMethods = "testMarkupAndProblems")
    public void testOldData()
            throws Exception
    {
        // resumes the refresh, as a user does with the keyboard
        browser.evaluate("document.getElementById('pause').click()");
        Await.until("the page shows the state again", PATIENCE, () -> text("state").startsWith("2 of 2"));
        page.destroy();
        Await.until("the page reports that its values are old", PATIENCE, () -> text("stale").startsWith("cache-admin ui does not answer. Start it again"));
        assertThat(text("stale")).contains("The values below are from ");
        assertThat(browser.evaluate("document.getElementById('stale').hidden")).isEqualTo("false");
        assertThat(text("state")).startsWith("2 of 2");
    }
}
