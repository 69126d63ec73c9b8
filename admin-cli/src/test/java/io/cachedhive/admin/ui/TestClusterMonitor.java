package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import javax.net.ssl.SSLContext;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestClusterMonitor
{
    private static final long START_MILLIS = 1_795_000_000_000L;
    private static final String NO_COUNTERS = "{\"worker\": \"w\", \"state\": \"RUNNING\", \"since_millis\": 1, \"total\": {}, \"gauges\": {}, \"catalogs\": []}";

    private final List<FakeWorker> workers = new ArrayList<>();
    private final AtomicLong clockMillis = new AtomicLong(START_MILLIS);
    private final AtomicInteger refusals = new AtomicInteger();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private final List<AutoCloseable> resources = new ArrayList<>();

    @AfterEach
    void tearDown()
            throws Exception
    {
        for (AutoCloseable resource : resources.reversed()) {
            resource.close();
        }
    }

    /**
     * A cache worker that answers with the text of each path and query, or with status 403.
     */
    private final class FakeWorker
    {
        private final HttpServer server;
        private final Map<String, String> answers = new ConcurrentHashMap<>();
        private final List<String> requests = new CopyOnWriteArrayList<>();

        private FakeWorker()
                throws IOException
        {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                try (exchange) {
                    requests.add(exchange.getRequestURI().toString());
                    String answer = answers.get(exchange.getRequestURI().toString());
                    byte[] bytes = answer == null ? new byte[0] : answer.getBytes(UTF_8);
                    exchange.sendResponseHeaders(answer == null ? 403 : 200, bytes.length == 0 ? -1 : bytes.length);
                    exchange.getResponseBody().write(bytes);
                }
            });
            server.start();
            resources.add(() -> server.stop(0));
            workers.add(this);
        }

        private FakeWorker with(String path, String answer)
        {
            answers.put(path, answer);
            return this;
        }

        private FakeWorker stats(long sinceMillis, long ram, long remote, long bypass)
        {
            return with("/v1/stats",
                    "{\"since_millis\": %s, \"total\": {\"ram_hit_bytes\": %s, \"remote_read_bytes\": %s, \"bypass_bytes\": %s}, \"gauges\": {}, \"catalogs\": []}"
                            .formatted(sinceMillis, ram, remote, bypass));
        }

        private WorkerHost host()
        {
            return new WorkerHost("127.0.0.1", server.getAddress().getPort(), false);
        }
    }

    private FakeWorker worker(String version, String problem)
            throws IOException
    {
        return new FakeWorker()
                .with("/v1/status",
                        """
                        {"worker": "w", "state": "RUNNING", "version": "%s", %s "uptime_millis": 3723000, "zone": "a",
                         "origins": [{"name": "lake", "id": "1"}, {"name": "old", "id": "2", "problem": "bucket <old> refuses the credentials: renew them."}],
                         "gauges": {"ram_used_bytes": 512, "ram_capacity_bytes": 1024, "ssd_used_bytes": 0, "ssd_capacity_bytes": 2048}}
                        """.formatted(version, problem.isEmpty() ? "" : "\"problem\": \"%s\",".formatted(problem)))
                .with("/v1/stats", NO_COUNTERS);
    }

    private ClusterMonitor monitor(WorkerHost... more)
            throws NoSuchAlgorithmException
    {
        List<WorkerHost> hosts = new ArrayList<>(workers.stream().map(FakeWorker::host).toList());
        hosts.addAll(List.of(more));
        WorkerHosts http = new WorkerHosts(hosts, Duration.ofMinutes(2), Optional.empty(), SSLContext.getDefault());
        resources.add(http);
        ClusterMonitor monitor = new ClusterMonitor(hosts, http, refusals::incrementAndGet, problems::add, Duration.ofMillis(5), clockMillis::get);
        resources.add(monitor);
        return monitor;
    }

    private static JsonNode json(String text)
            throws IOException
    {
        return new ObjectMapper().readTree(text);
    }

    /**
     * What the page receives.
     */
    private static JsonNode data(ClusterMonitor monitor)
            throws IOException
    {
        return json(monitor.data().toString());
    }

    private static List<String> texts(JsonNode list)
    {
        List<String> texts = new ArrayList<>();
        list.forEach(value -> texts.add(value.asText()));
        return texts;
    }

    private static JsonNode named(JsonNode list, String name)
    {
        for (JsonNode line : list) {
            if (line.get("name").asText().equals(name)) {
                return line;
            }
        }
        throw new AssertionError("no " + name + " in " + list);
    }

    @Test
    void testBeforeTheFirstSample()
            throws Exception
    {
        worker("1", "");
        JsonNode data = data(monitor());
        assertThat(data.get("sampled").asBoolean()).isFalse();
        assertThat(data.get("hosts").asInt()).isEqualTo(1);
        assertThat(data.has("age_millis")).isFalse();
    }

    @Test
    void testStateAndProblems()
            throws Exception
    {
        FakeWorker first = worker("1", "/mnt/a is full: free disk space.");
        FakeWorker second = worker("1", "/mnt/a is full: free disk space.");
        FakeWorker third = worker("2", "");
        int silent;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            silent = socket.getLocalPort();
        }
        ClusterMonitor monitor = monitor(new WorkerHost("127.0.0.1", silent, false));
        monitor.sample();
        clockMillis.addAndGet(7000);

        JsonNode data = data(monitor);
        assertThat(data.get("hosts").asInt()).isEqualTo(4);
        assertThat(data.get("running").asInt()).isEqualTo(3);
        assertThat(data.get("age_millis").asLong()).isEqualTo(7000);
        assertThat(data.get("problems")).hasSize(3);
        assertThat(data.get("problems").get(0).get("problem").asText()).isEqualTo("/mnt/a is full: free disk space.");
        assertThat(texts(data.get("problems").get(0).get("hosts"))).containsExactly(first.host().toString(), second.host().toString());
        assertThat(data.get("problems").get(1).get("problem").asText()).isEqualTo("bucket <old> refuses the credentials: renew them.");
        assertThat(texts(data.get("problems").get(1).get("hosts"))).hasSize(3);
        assertThat(data.get("problems").get(2).get("problem").asText())
                .startsWith("Nothing listens at 127.0.0.1:%s: start the cache worker there".formatted(silent));

        assertThat(data.get("workers").get(0)).isEqualTo(json(
                """
                {"host": "%s", "state": "RUNNING", "reachable": true, "worker": "w", "version": "1", "zone": "a", "uptime_millis": 3723000,
                 "ram_used_bytes": 512, "ram_capacity_bytes": 1024, "ssd_used_bytes": 0, "ssd_capacity_bytes": 2048,
                 "hit_bytes": 0, "remote_bytes": 0, "bypass_bytes": 0}
                """.formatted(first.host())));
        assertThat(data.get("workers").get(3)).isEqualTo(json("{\"host\": \"127.0.0.1:%s\", \"state\": \"UNREACHABLE\", \"reachable\": false}".formatted(silent)));
        assertThat(data.get("versions")).hasSize(2);
        assertThat(data.get("versions").get(1)).isEqualTo(json("{\"version\": \"2\", \"hosts\": [\"%s\"]}".formatted(third.host())));
        assertThat(refusals).hasValue(0);
    }

    @Test
    void testSums()
            throws Exception
    {
        worker("1", "").with("/v1/stats",
                """
                {"since_millis": 2000, "catalogs": [],
                 "total": {"ram_hit_bytes": 100, "ssd_hit_bytes": 20, "non_local_hit_bytes": 3, "remote_read_bytes": 40, "bypass_bytes": 7,
                           "ram_hit_requests": 5, "ssd_hit_requests": 2, "non_local_hit_requests": 1, "bypass_requests": 4},
                 "gauges": {"origin_gets": 9, "ssd_errors_io_error": 3, "ssd_writes_rejected_not_admitted": 11}}
                """);
        FakeWorker second = worker("1", "").with("/v1/stats",
                """
                {"since_millis": 1000, "catalogs": [], "total": {"ram_hit_bytes": 1000}, "gauges": {"origin_gets": 1, "ssd_errors_io_error": 4}}
                """);
        ClusterMonitor monitor = monitor();
        monitor.sample();

        JsonNode data = data(monitor);
        assertThat(data.get("bytes")).isEqualTo(json(
                "{\"ram_hit_bytes\": 1100, \"ssd_hit_bytes\": 20, \"non_local_hit_bytes\": 3, \"remote_read_bytes\": 40, \"bypass_bytes\": 7}"));
        assertThat(data.get("hit_bytes").asLong()).isEqualTo(1123);
        assertThat(data.get("since_millis").asLong()).isEqualTo(1000);
        assertThat(named(data.get("object_store"), "saved_requests").get("value").asLong()).isEqualTo(8);
        assertThat(named(data.get("object_store"), "saved_bytes").get("value").asLong()).isEqualTo(1123);
        assertThat(named(data.get("object_store"), "bypass_requests").get("value").asLong()).isEqualTo(4);
        assertThat(named(data.get("object_store"), "origin_gets").get("value").asLong()).isEqualTo(10);
        JsonNode errors = named(data.get("disks"), "ssd_errors_io_error");
        assertThat(errors.get("description").asText()).isEqualTo("SSD operations that failed with an I/O error");
        assertThat(errors.get("value").asLong()).isEqualTo(7);
        assertThat(errors.get("hosts")).hasSize(2);
        assertThat(errors.get("hosts").get(1)).isEqualTo(json("{\"host\": \"%s\", \"value\": 4}".formatted(second.host())));
        assertThat(errors.get("normal").asBoolean()).isFalse();
        assertThat(named(data.get("disks"), "ssd_writes_rejected_not_admitted").get("normal").asBoolean()).isTrue();
    }

    /**
     * A cache worker without a shared secret answers with its status, and refuses its counters.
     */
    @Test
    void testRefusedCounters()
            throws Exception
    {
        FakeWorker refusing = worker("1", "");
        refusing.answers.remove("/v1/stats");
        ClusterMonitor monitor = monitor();
        monitor.sample();

        JsonNode data = data(monitor);
        assertThat(data.get("running").asInt()).isEqualTo(1);
        assertThat(data.get("workers").get(0).get("ram_used_bytes").asLong()).isEqualTo(512);
        assertThat(data.get("workers").get(0).has("hit_bytes")).isFalse();
        assertThat(data.get("problems").get(1).get("problem").asText()).contains("requires the shared secret (HTTP 403)");
        assertThat(data.has("since_millis")).isFalse();
        assertThat(refusals).hasValue(1);
    }

    @Test
    void testHistory()
            throws Exception
    {
        FakeWorker first = worker("1", "").stats(1, 100, 100, 100);
        FakeWorker second = worker("1", "").stats(1, 0, 0, 0);
        ClusterMonitor monitor = monitor();
        monitor.sample();
        assertThat(data(monitor).get("history")).isEmpty();

        clockMillis.addAndGet(5000);
        first.stats(1, 130, 110, 100);
        second.stats(1, 4, 0, 2);
        monitor.sample();
        assertThat(data(monitor).get("history")).isEqualTo(json("[[%s, 34, 10, 2]]".formatted(START_MILLIS + 5000)));

        // one has lost its counters, and the other one is away
        clockMillis.addAndGet(5000);
        first.stats(2, 200, 200, 200);
        second.answers.clear();
        monitor.sample();
        assertThat(data(monitor).get("history")).hasSize(1);

        // what was read meanwhile counts for the sample after it
        clockMillis.addAndGet(5000);
        first.stats(2, 201, 200, 200);
        second.with("/v1/status", "{\"state\": \"RUNNING\"}").stats(1, 14, 0, 2);
        monitor.sample();
        assertThat(data(monitor).get("history").get(1)).isEqualTo(json("[%s, 11, 0, 0]".formatted(START_MILLIS + 15_000)));

        // an hour after the first point
        clockMillis.set(START_MILLIS + 5000 + Duration.ofHours(1).toMillis());
        monitor.sample();
        JsonNode history = data(monitor).get("history");
        assertThat(history).hasSize(2);
        assertThat(history.get(0).get(0).asLong()).isEqualTo(START_MILLIS + 15_000);
    }

    @Test
    void testTables()
            throws Exception
    {
        String markup = "web.<img src=x onerror=alert(1)>";
        String stats = NO_COUNTERS.replace("[]", "[{\"cluster\": \"prod\", \"catalog\": \"la ke&\", \"total\": {}}]");
        String path = "/v1/tables?cluster=prod&catalog=la%20ke%26";
        FakeWorker first = worker("1", "").with("/v1/stats", stats)
                .with(path, "{\"tables\": {\"web.a\": {\"requests\": 2, \"ram_hit_bytes\": 10, \"remote_read_bytes\": 5}}, \"next\": \"web.a\"}")
                .with(path + "&after=web.a", "{\"tables\": {\"%s\": {\"bypass_bytes\": 100, \"ssd_hit_bytes\": 1, \"non_local_hit_bytes\": 2}}}".formatted(markup));
        worker("1", "").with("/v1/stats", stats)
                .with(path, "{\"tables\": {\"web.a\": {\"requests\": 1, \"ram_hit_bytes\": 7}, \"web.b\": {}}}");
        FakeWorker failing = worker("1", "").with("/v1/stats", stats);
        FakeWorker without = worker("1", "");
        ClusterMonitor monitor = monitor();
        monitor.sample();

        JsonNode tables = data(monitor).get("tables");
        assertThat(tables.get("count").asInt()).isEqualTo(3);
        assertThat(texts(tables.get("missing"))).containsExactly(failing.host().toString());
        assertThat(tables.get("top")).hasSize(3);
        assertThat(tables.get("top").get(0)).isEqualTo(json(
                "{\"cluster\": \"prod\", \"catalog\": \"la ke&\", \"table\": \"%s\", \"requests\": 0, \"hit_bytes\": 3, \"remote_bytes\": 0, \"bypass_bytes\": 100}"
                        .formatted(markup)));
        assertThat(tables.get("top").get(1)).isEqualTo(json(
                "{\"cluster\": \"prod\", \"catalog\": \"la ke&\", \"table\": \"web.a\", \"requests\": 3, \"hit_bytes\": 17, \"remote_bytes\": 5, \"bypass_bytes\": 0}"));
        assertThat(without.requests).noneMatch(request -> request.startsWith("/v1/tables"));

        // the counters of tables are read again after a while only
        int requests = first.requests.size();
        monitor.sample();
        assertThat(first.requests).hasSize(requests + 2);
        clockMillis.addAndGet(30_000);
        monitor.sample();
        assertThat(first.requests).hasSize(requests + 6);
    }

    @Test
    void testTopTables()
            throws Exception
    {
        StringBuilder tables = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            tables.append(i == 0 ? "" : ", ").append("\"web.t%02d\": {\"ram_hit_bytes\": %s}".formatted(i, 1000 - i));
        }
        worker("1", "").with("/v1/stats", NO_COUNTERS.replace("[]", "[{\"cluster\": \"c\", \"catalog\": \"lake\"}]"))
                // a page that ends where it began is the last one
                .with("/v1/tables?cluster=c&catalog=lake", "{\"tables\": {%s}, \"next\": \"\"}".formatted(tables));
        ClusterMonitor monitor = monitor();
        monitor.sample();

        JsonNode data = data(monitor).get("tables");
        assertThat(data.get("count").asInt()).isEqualTo(30);
        assertThat(data.get("top")).hasSize(20);
        assertThat(data.get("top").get(0).get("table").asText()).isEqualTo("web.t00");
        assertThat(data.get("top").get(19).get("table").asText()).isEqualTo("web.t19");
    }

    /**
     * A failure does not end the periodic samples.
     */
    @Test
    void testSamplesGoOn()
            throws Exception
    {
        worker("1", "");
        List<WorkerHost> hosts = List.of(workers.getFirst().host());
        AtomicInteger samples = new AtomicInteger();
        CountDownLatch sampledAgain = new CountDownLatch(2);
        WorkerHosts http = new WorkerHosts(
                hosts,
                Duration.ofMinutes(2),
                _ -> {
                    if (samples.getAndIncrement() == 0) {
                        throw new IllegalStateException("no secret");
                    }
                    sampledAgain.countDown();
                    return Optional.empty();
                },
                SSLContext.getDefault());
        resources.add(http);
        ClusterMonitor monitor = new ClusterMonitor(hosts, http, refusals::incrementAndGet, problems::add, Duration.ofMillis(5), clockMillis::get);
        resources.add(monitor);
        monitor.start();
        assertThat(sampledAgain.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(problems).singleElement().asString().contains("is read again in 5 ms", "no secret");
    }
}
