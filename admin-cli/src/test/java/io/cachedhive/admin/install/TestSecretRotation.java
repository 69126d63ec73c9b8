package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.SecretRotation.FoundSecrets;
import io.cachedhive.admin.install.SecretRotation.WorkerSecrets;
import io.cachedhive.admin.settings.SecretFile.Content;
import io.cachedhive.admin.settings.SecretFile.Second;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.protocol.security.SecretFile;
import io.cachedhive.protocol.security.SecretKeys;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Rotates the secret of hosts whose processes read their files late. After each step of time, every Trino server and
 * every cache worker must have a secret in common.
 */
class TestSecretRotation
{
    private static final String OLD = "9vQ2LrT7xWb4NcYk8HsZp3MdGf6JaEu1";
    private static final String NEW = "k7Jw2mQz9Xv4Lb8Tn3Rc6Yd1Hf5Gs0Pa";
    private static final String FOREIGN = "Zp3MdGf6JaEu19vQ2LrT7xWb4NcYk8Hs";

    @TempDir
    private Path directory;

    private Fleet fleet;

    @BeforeEach
    void setUp()
            throws Exception
    {
        Path file = directory.resolve("hosts.yaml");
        Files.writeString(file, """
                coordinators: [c]
                workers: ['w[1-3]']
                """);
        Cluster cluster = ClusterFile.read(file);
        fleet = new Fleet(cluster.hosts());
    }

    @Test
    void testRotation()
            throws Exception
    {
        List<HostOutcome> outcomes = fleet.rotate(Optional.of(NEW));

        assertThat(outcomes).extracting(HostOutcome::problem).containsOnly(Optional.empty());
        assertThat(outcomes.getLast().notes()).containsExactly("new secret added", "new secret preferred", "former secret removed", "former secret refused");
        assertThat(fleet.local.secrets()).containsExactly(NEW);
        assertThat(fleet.files.values()).containsOnly(List.of(NEW));

        // a random one
        fleet.rotate(Optional.empty());
        assertThat(fleet.local.secrets()).hasSize(1).doesNotContain(OLD, NEW);
        assertThat(fleet.files.values()).containsOnly(fleet.local.secrets());
    }

    @Test
    void testInterruptedAnywhere()
            throws Exception
    {
        int writes = 0;
        while (true) {
            setUp();
            fleet.writesUntilInterrupted = writes;
            boolean interrupted = false;
            try {
                fleet.rotate(Optional.of(NEW));
            }
            catch (InterruptedRotationException _) {
                interrupted = true;
            }
            fleet.writesUntilInterrupted = Integer.MAX_VALUE;
            if (!interrupted) {
                break;
            }
            // before the first write, the new secret is nowhere
            List<HostOutcome> outcomes = fleet.rotate(writes == 0 ? Optional.of(NEW) : Optional.empty());
            assertThat(outcomes).as("after %s writes", writes).extracting(HostOutcome::problem).containsOnly(Optional.empty());
            assertThat(fleet.local.secrets()).containsExactly(NEW);
            assertThat(fleet.files.values()).containsOnly(List.of(NEW));
            writes++;
        }
        // each step on this machine and on each host
        assertThat(writes).isEqualTo(3 * 5);
    }

    @Test
    void testHostThatCannotBeReached()
            throws Exception
    {
        fleet.unreachable.add("w2");
        List<HostOutcome> outcomes = fleet.rotate(Optional.of(NEW));
        assertThat(problems(outcomes)).containsExactly("w2 cannot be reached.");
        assertThat(fleet.local.secrets()).containsExactly(OLD);
        assertThat(fleet.files.values()).containsOnly(List.of(OLD));

        // lost while connections move to the new secret: nothing is removed anywhere
        fleet.unreachable.clear();
        fleet.unreachableSinceSwap.add("w2");
        outcomes = fleet.rotate(Optional.of(NEW));
        assertThat(problems(outcomes)).containsExactly("w2 cannot be reached.");
        assertThat(fleet.local).isEqualTo(new Content(NEW, Optional.of(OLD), Optional.of(Second.FORMER)));
        assertThat(fleet.files.values()).containsOnly(List.of(NEW, OLD));

        fleet.unreachableSinceSwap.clear();
        assertThat(problems(fleet.rotate(Optional.empty()))).isEmpty();
        assertThat(fleet.files.values()).containsOnly(List.of(NEW));
    }

    @Test
    void testConnectionThatKeepsTheFormerSecret()
            throws Exception
    {
        fleet.stuckConnections.put("w3", 2);
        List<HostOutcome> outcomes = fleet.rotate(Optional.of(NEW));
        assertThat(problems(outcomes)).singleElement().asString()
                .startsWith("w3: 2 connections still use the former secret after 60 s: restart the Trino servers");
        assertThat(fleet.files.values()).containsOnly(List.of(NEW, OLD));

        fleet.stuckConnections.clear();
        assertThat(problems(fleet.rotate(Optional.empty()))).isEmpty();
        assertThat(fleet.files.values()).containsOnly(List.of(NEW));
    }

    @Test
    void testCacheWorkerThatDoesNotReadItsFile()
            throws Exception
    {
        fleet.deaf.add("w1");
        assertThat(problems(fleet.rotate(Optional.of(NEW)))).singleElement().asString()
                .startsWith("w1: its cache worker has not read its secret file within 60 s");
        assertThat(fleet.files.values()).containsOnly(List.of(OLD, NEW));
    }

    @Test
    void testStoppedCacheWorker()
            throws Exception
    {
        fleet.stopped.add("w1");
        List<HostOutcome> outcomes = fleet.rotate(Optional.of(NEW));
        assertThat(problems(outcomes)).isEmpty();
        assertThat(outcomes.get(1).notes()).contains("its cache worker does not run, and will use the new secret").doesNotContain("former secret refused");
        assertThat(fleet.files.values()).containsOnly(List.of(NEW));
    }

    @Test
    void testSecretOfAnotherMachine()
            throws Exception
    {
        // rotated elsewhere, and this machine has the former secret
        fleet.files.replaceAll((_, _) -> List.of(FOREIGN, OLD));
        assertThat(problems(fleet.rotate(Optional.of(NEW)))).hasSize(4).allSatisfy(problem -> assertThat(problem).contains("its secret is not the one of secret-file"));
        assertThat(fleet.files.values()).containsOnly(List.of(FOREIGN, OLD));

        fleet.local = new Content(OLD, Optional.of(NEW), Optional.empty());
        assertThatThrownBy(() -> fleet.rotate(Optional.empty())).isInstanceOf(ClusterFileException.class).hasMessageContaining("complete that rotation by hand");
        fleet.local = new Content(OLD, Optional.of(NEW), Optional.of(Second.NEW));
        assertThatThrownBy(() -> fleet.rotate(Optional.of(FOREIGN))).hasMessageContaining("A rotation to another secret is in progress");
    }

    @Test
    void testDryRun()
            throws Exception
    {
        List<HostOutcome> outcomes = fleet.rotation().run(Optional.empty(), true);
        assertThat(outcomes).allSatisfy(outcome -> assertThat(outcome.notes()).containsExactly("add a new secret, prefer it, and remove the present one"));
        fleet.local = new Content(NEW, Optional.of(OLD), Optional.of(Second.FORMER));
        assertThat(fleet.rotation().run(Optional.empty(), true)).allSatisfy(outcome ->
                assertThat(outcome.notes()).containsExactly("continue: prefer the new secret, and remove the former secret"));
        fleet.unreachable.add("c");
        assertThat(problems(fleet.rotation().run(Optional.empty(), true))).containsExactly("c cannot be reached.");
        assertThat(fleet.files.values()).containsOnly(List.of(OLD));
    }

    private static List<String> problems(List<HostOutcome> outcomes)
    {
        return outcomes.stream().flatMap(outcome -> outcome.problem().stream()).toList();
    }

    private static final class InterruptedRotationException
            extends RuntimeException {}

    /// The coordinator, which has no connection, reads its file as late as it may, other processes sooner, and each connection lives until the Trino server prefers another secret.
    private static final class Fleet
            implements SecretRotation.Hosts
    {
        private static final long READ_NANOS = SecretFile.MAX_AGE.toNanos();

        private final List<ClusterHost> hosts;
        private final Map<String, List<String>> files = new LinkedHashMap<>();
        private final Map<String, Long> writtenNanos = new LinkedHashMap<>();
        private final Map<String, List<String>> workers = new LinkedHashMap<>();
        private final Map<String, List<String>> servers = new LinkedHashMap<>();
        private final Set<String> unreachable = new HashSet<>();
        private final Set<String> unreachableSinceSwap = new HashSet<>();
        private final Set<String> deaf = new HashSet<>();
        private final Set<String> stopped = new HashSet<>();
        private final Map<String, Integer> stuckConnections = new LinkedHashMap<>();
        private Content local = new Content(OLD, Optional.empty(), Optional.empty());
        private int writesUntilInterrupted = Integer.MAX_VALUE;
        private long nanos;

        private Fleet(List<ClusterHost> hosts)
        {
            this.hosts = hosts;
            hosts.forEach(host -> {
                files.put(host.name(), List.of(OLD));
                servers.put(host.name(), List.of(OLD));
                if (host.isWorker()) {
                    workers.put(host.name(), List.of(OLD));
                }
                writtenNanos.put(host.name(), 0L);
            });
        }

        private SecretRotation rotation()
        {
            return new SecretRotation(hosts, this, new LocalFile(), Duration.ofMinutes(1), () -> nanos, this::sleep, _ -> {});
        }

        private List<HostOutcome> rotate(Optional<String> secret)
                throws ClusterFileException
        {
            return rotation().run(secret, false);
        }

        private void sleep(Duration duration)
        {
            nanos += duration.toNanos();
            files.forEach((host, secrets) -> {
                long elapsed = nanos - writtenNanos.get(host);
                if (workers.containsKey(host) && !deaf.contains(host) && elapsed >= READ_NANOS / 5) {
                    workers.put(host, secrets);
                }
                if (elapsed >= (workers.containsKey(host) ? READ_NANOS / 5 : READ_NANOS)) {
                    servers.put(host, secrets);
                }
            });
            // a Trino server of one host reads from the cache worker of any other
            workers.forEach((worker, secrets) -> servers.forEach((server, others) ->
                    assertThat(Collections.disjoint(secrets, others)).as("cache worker of %s has %s, Trino of %s has %s", worker, secrets, server, others).isFalse()));
        }

        private void countWrite()
        {
            if (writesUntilInterrupted-- == 0) {
                throw new InterruptedRotationException();
            }
        }

        private boolean isUnreachable(ClusterHost host)
        {
            return unreachable.contains(host.name())
                    || (local.second().equals(Optional.of(Second.FORMER)) && unreachableSinceSwap.contains(host.name()) && files.get(host.name()).equals(local.secrets()));
        }

        @Override
        public Map<ClusterHost, FoundSecrets> read()
        {
            Map<ClusterHost, FoundSecrets> found = new LinkedHashMap<>();
            for (ClusterHost host : hosts) {
                found.put(host, new FoundSecrets(
                        List.of(files.get(host.name())),
                        host.isWorker() && !stopped.contains(host.name()),
                        isUnreachable(host) ? Optional.of(host + " cannot be reached.") : Optional.empty()));
            }
            return found;
        }

        @Override
        public List<HostOutcome> write(Content content)
        {
            List<HostOutcome> outcomes = new ArrayList<>();
            for (ClusterHost host : hosts) {
                List<String> secrets = SecretRotation.parse(content.hostText());
                boolean changed = !files.get(host.name()).equals(secrets);
                if (changed) {
                    countWrite();
                    files.put(host.name(), secrets);
                    writtenNanos.put(host.name(), nanos);
                }
                outcomes.add(HostOutcome.done(host, changed ? List.of("file") : List.of()));
                sleep(Duration.ofMillis(100));
            }
            return outcomes;
        }

        @Override
        public Map<ClusterHost, WorkerSecrets> status(List<ClusterHost> asked, String secret)
        {
            Map<ClusterHost, WorkerSecrets> answers = new LinkedHashMap<>();
            for (ClusterHost worker : asked) {
                List<String> valid = workers.get(worker.name());
                if (!valid.contains(secret)) {
                    answers.put(worker, new WorkerSecrets(Optional.empty(), OptionalLong.empty(), true, "refused"));
                    continue;
                }
                // of each Trino server but that of the coordinator, which has no connection just now, with the first of its secrets that the cache worker knows
                long former = servers.entrySet().stream()
                        .filter(server -> workers.containsKey(server.getKey()))
                        .map(Map.Entry::getValue)
                        .filter(secrets -> !secrets.stream().filter(valid::contains).findFirst().equals(Optional.of(valid.getFirst())))
                        .count();
                answers.put(worker, new WorkerSecrets(
                        Optional.of(valid.stream().map(SecretKeys::fingerprint).toList()),
                        OptionalLong.of(former + stuckConnections.getOrDefault(worker.name(), 0)),
                        false,
                        ""));
            }
            return answers;
        }

        private final class LocalFile
                implements SecretRotation.SecretStore
        {
            @Override
            public Content read()
            {
                return local;
            }

            @Override
            public void write(Content content)
            {
                countWrite();
                local = content;
            }
        }
    }
}
