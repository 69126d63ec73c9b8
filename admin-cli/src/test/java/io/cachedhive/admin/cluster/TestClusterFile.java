package io.cachedhive.admin.cluster;

import io.cachedhive.admin.cluster.ClusterFile.Changed;
import io.cachedhive.admin.cluster.ClusterHost.Role;
import io.cachedhive.admin.cluster.ClusterHost.Service;
import io.cachedhive.admin.cluster.ClusterHost.SsdDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestClusterFile
{
    private static final Path FILE = Path.of("/etc/hosts.yaml");

    @Test
    void testDefaults()
            throws ClusterFileException
    {
        Cluster cluster = ClusterFile.parse("workers: [w1]", FILE);

        assertThat(cluster.name()).isEqualTo("production");
        assertThat(cluster.ssh().parallel()).isEqualTo(16);
        assertThat(cluster.ssh().connectTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(cluster.configurationDirectory()).isEqualTo(Path.of("/etc/cache-admin.d"));
        ClusterHost host = cluster.hosts().getFirst();
        assertThat(host.roles()).containsExactly(Role.WORKER);
        assertThat(host.installDirectory()).isEqualTo("/opt/cachedhive");
        assertThat(host.trinoHome()).isEmpty();
        assertThat(host.service()).isEqualTo(Service.AUTO);
        assertThat(host.workerPort()).isEqualTo(8484);
        assertThat(host.http()).hasToString("w1:8485");
        assertThat(host.ram().bytes()).isEqualTo(1L << 30);
        assertThat(host.ssd()).isEmpty();
    }

    @Test
    void testHostOverGroupOverAll()
            throws ClusterFileException
    {
        Cluster cluster = ClusterFile.parse("""
                cluster: blue
                coordinators: [c1]
                workers:
                  - w[08-10].net
                  - host: big1
                    address: 10.0.0.9
                    zone: b
                    worker-properties: {cache.ttl: 2d}
                  - c1
                groups:
                  large:
                    hosts: [big1, w09.net]
                    ram-size: 64GB
                    zone: a
                    ssd:
                      - {directory: /mnt/a/, size: 1.5TB}
                    worker-properties: {cache.ttl: 1d, cache.block-size: 2MB}
                ram-size: 8GB
                trino-home: /srv/trino
                sudo: true
                """, FILE);

        assertThat(cluster.hosts()).extracting(ClusterHost::name).containsExactly("c1", "w08.net", "w09.net", "w10.net", "big1");
        assertThat(cluster.hosts().getFirst().roles()).containsExactlyInAnyOrder(Role.COORDINATOR, Role.WORKER);
        ClusterHost big = cluster.hosts().getLast();
        assertThat(big.ram().bytes()).isEqualTo(64L << 30);
        assertThat(big.zone()).contains("b");
        assertThat(big.ssd()).containsExactly(new SsdDirectory("/mnt/a", Optional.of(new Size(3L << 39, "1.5TB")), OptionalInt.empty()));
        assertThat(big.workerProperties()).containsEntry("cache.ttl", "2d").containsEntry("cache.block-size", "2MB");
        assertThat(big.pluginDirectory()).isEqualTo("/srv/trino/plugin");
        assertThat(big.http()).hasToString("10.0.0.9:8485");
        assertThat(cluster.hosts().get(2).zone()).contains("a");
        assertThat(cluster.hosts().get(1).ram().bytes()).isEqualTo(8L << 30);
        assertThat(cluster.hosts()).allMatch(ClusterHost::sudo);

        assertThat(cluster.select(Set.of("large", "c1"))).extracting(ClusterHost::name).containsExactly("c1", "w09.net", "big1");
        assertThat(cluster.select(Set.of())).hasSize(5);
        assertThatThrownBy(() -> cluster.select(Set.of("nobody"))).hasMessageContaining("nobody is neither a host nor a group").hasMessageContaining("w08.net");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            workers: w1                                          | 1 | workers is to be a list
            cluster: x                                           | 1 | no host is named
            workers: [w1]\\nram: 1GB                             | 2 | ram is unknown
            workers: [w1]\\nram-size: much                       | 2 | ram-size: a size is written as
            workers: [w1]\\n\\nworker-port: 70000                | 3 | worker-port: 70000 is not a number from 1 to 65535
            workers: [w1]\\ninstall-directory: opt               | 2 | install-directory: opt is not an absolute path
            workers: [w1]\\ninstall-directory: /                 | 2 | the root directory cannot be used
            workers: [w1]\\ninstall-directory: /opt/x/..         | 2 | /opt/x/.. is not written out
            workers: [w1]\\ntrino-home: /srv/../trino            | 2 | /srv/../trino is not written out
            workers: [w1]\\nsocket-path: /./w.sock               | 2 | /./w.sock is not written out
            workers: [w1]\\nservice: upstart                     | 2 | upstart is none of auto, systemd, launcher
            workers: [w1]\\nsudo: maybe                          | 2 | maybe is neither true nor false
            workers: [w1, w1]                                    | 1 | w1 is named twice
            workers: [w1]\\nworkers: [w2]                        | 2 | workers stands here twice
            workers: ['-oProxyCommand=x']                        | 1 | is not the name of a host
            workers: ['w[3-1]']                                  | 1 | is no range of hosts
            workers:\\n- ram-size: 1GB                           | 2 | has no name
            workers:\\n- w1\\ngroups:\\n  g:\\n    hosts: [w2]   | 5 | group g has the host w2
            workers: [w1]\\nssd:\\n- directory: /a               | 3 | an entry of ssd needs both
            workers: [w1]\\nssd: [{directory: /a, size: 1GB, percentage: 5}]                          | 2 | `size: 400GB` or `percentage: 80`
            workers: [w1]\\nssd: [{directory: /a, percentage: 101}]                                  | 2 | 101 is not a number from 1 to 100
            workers: [w1]\\nssd: [{directory: /a, size: 1GB}, {directory: /b, percentage: 5}]        | 2 | all of a host sizes, or all percentages
            workers: [w1]\\nworker-properties: {cache.ssd.directories: /a}                           | 2 | write each as an entry of ssd
            workers: [w1]\\nworker-properties: {cache.ssd.max-disk-usage-percentages: 5}             | 2 | write each as an entry of ssd
            workers: [w1]\\ninstall-directory: '/opt/my cache'                                      | 2 | has white space in it
            workers: [w1]\\nsocket-path: '/run/100%/w.sock'                                         | 2 | has % in it
            workers: [w1]\\njava-home: '/opt/$jdk'                                                  | 2 | has $ in it
            workers:\\n- w1\\n- my_worker        | 3 | my_worker cannot stand in a URL
            workers:\\n- {host: w1, address: a_b} | 2 | a_b cannot stand in a URL
            workers: [w1]\\nssh: {timeout: 1s}                   | 2 | timeout is unknown
            workers: [w1]\\nssh: {connect-timeout: soon}         | 2 | soon is not a duration
            workers: [w1\\ncluster: a                            | 2 | this is not YAML
            """)
    void testMistakesAreToldWithLineAndRemedy(String text, int line, String message)
    {
        assertThatThrownBy(() -> ClusterFile.parse(text.replace("\\n", "\n"), FILE))
                .isInstanceOf(ClusterFileException.class)
                .hasMessageStartingWith("/etc/hosts.yaml line " + line + ": ")
                .hasMessageContaining(message)
                .hasMessageMatching("(?s).*[:(].*\\.");
    }

    @Test
    void testNamesThatOnlySshKnows()
            throws ClusterFileException
    {
        // nobody asks a coordinator by HTTP
        Cluster cluster = ClusterFile.parse("coordinators: [the_coordinator]\nworkers: [{host: my_worker, address: 10.0.0.1}]", FILE);

        assertThat(cluster.hosts()).extracting(ClusterHost::name).containsExactly("the_coordinator", "my_worker");
        assertThat(cluster.hosts().getLast().http()).hasToString("10.0.0.1:8485");
    }

    @Test
    void testSharesOfDisks()
            throws ClusterFileException
    {
        ClusterHost host = ClusterFile.parse("workers: [w1]\nssd: [{directory: /a, percentage: 80}, {directory: /b, percentage: 5}]", FILE).hosts().getFirst();

        assertThat(host.ssd()).containsExactly(
                new SsdDirectory("/a", Optional.empty(), OptionalInt.of(80)),
                new SsdDirectory("/b", Optional.empty(), OptionalInt.of(5)));
        assertThat(host.ssd().getFirst().bytes(1000)).isEqualTo(800);
    }

    @Test
    void testTrinoHomeIsReplaced()
            throws ClusterFileException
    {
        String text = """
                # Trino 483 \uD83D\uDC07 is in /opt/trino-483
                coordinators: [c1]
                trino-home: "/opt/trino-483"   # for all but one
                workers:
                  - w[1-2]
                  - {host: w3, trino-home: /opt/trino-483, trino-etc: /etc/trino}
                """;

        Changed changed = ClusterFile.withTrinoHome(text, FILE, Set.of("c1", "w1", "w2", "w3"), "/opt/trino-484");
        assertThat(changed.text()).isEqualTo("""
                # Trino 483 \uD83D\uDC07 is in /opt/trino-483
                coordinators: [c1]
                trino-home: /opt/trino-484   # for all but one
                workers:
                  - w[1-2]
                  - {host: w3, trino-home: /opt/trino-484, trino-etc: /etc/trino}
                """);
        assertThat(changed.cluster().hosts()).allMatch(host -> host.pluginDirectory().equals("/opt/trino-484/plugin"));
        assertThat(changed.cluster().hosts()).extracting(ClusterHost::trinoEtc)
                .containsExactly("/opt/trino-484/etc", "/opt/trino-484/etc", "/opt/trino-484/etc", "/etc/trino");

        assertThat(ClusterFile.withTrinoHome(text, FILE, Set.of("w3"), "/opt/trino-484").text())
                .contains("trino-home: \"/opt/trino-483\"", "{host: w3, trino-home: /opt/trino-484,");
        assertThatThrownBy(() -> ClusterFile.withTrinoHome(text, FILE, Set.of("c1", "w1", "w3"), "/opt/trino-484"))
                .isInstanceOf(ClusterFileException.class)
                .hasMessageMatching("/etc/hosts.yaml line 3: this trino-home is also the one of w2: select all its hosts, or write a trino-home for (c1|w1) alone\\.");
    }

    @Test
    void testTemplateIsCompleteWhenFilledIn()
            throws IOException, ClusterFileException
    {
        String text = ClusterFile.template()
                .replace("<coordinator.example.net>", "c1")
                .replace("<worker[1-3].example.net>", "w[1-3]");
        assertThat(ClusterFile.parse(text, FILE).hosts()).hasSize(4);

        // what is commented out is right, too
        String all = text.replaceAll("(?m)^#([a-z][a-z-]*:|  )", "$1").replaceAll("hosts: \\[worker3.example.net]", "hosts: [w3]");
        assertThat(all).doesNotContain("#zone");
        Cluster cluster = ClusterFile.parse(all, FILE);
        assertThat(cluster.hosts()).extracting(ClusterHost::name).containsExactly("c1", "w1", "w2", "w3", "worker21.example.net");
        assertThat(cluster.hosts().getLast().zone()).contains("eu-1a");
        assertThat(cluster.hosts().getLast().ssd()).hasSize(1);
        assertThat(cluster.hosts().get(3).ram().bytes()).isEqualTo(64L << 30);
    }
}
