package io.cachedhive.admin.task;

import io.cachedhive.admin.cluster.ClusterFile;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

class TestHostTasks
{
    @TempDir
    private Path directory;

    private final List<String> told = new ArrayList<>();

    private final HostTasks.Progress progress = new HostTasks.Progress()
    {
        @Override
        public void update(int done, int total, Set<String> running)
        {
            told.add("%s/%s".formatted(done, total));
        }

        @Override
        public void ended(HostOutcome outcome)
        {
            told.add(outcome.host().name());
        }
    };

    @Test
    void testOneFailureLeavesTheOthersAlone()
            throws IOException, ClusterFileException
    {
        List<HostOutcome> outcomes = new HostTasks(2, progress).run(hosts(5), host -> {
            if (host.name().equals("w3")) {
                throw new TaskException("w3: is broken: fix it.");
            }
            return HostOutcome.done(host, List.of("x"));
        });

        assertThat(outcomes).extracting(outcome -> outcome.host().name()).containsExactly("w1", "w2", "w3", "w4", "w5");
        assertThat(outcomes).filteredOn(outcome -> outcome.problem().isPresent()).singleElement()
                .satisfies(outcome -> assertThat(outcome.problem()).contains("w3: is broken: fix it."));
        assertThat(told).endsWith("5/5").contains("w1", "w2", "w3", "w4", "w5");
    }

    @Test
    void testFaultOfTheProgramOnOneHost()
            throws IOException, ClusterFileException
    {
        List<HostOutcome> outcomes = new HostTasks(2, progress).run(hosts(3), host -> {
            if (host.name().equals("w2")) {
                throw new IllegalStateException("surprise");
            }
            return HostOutcome.done(host, List.of("x"));
        });

        assertThat(outcomes).filteredOn(outcome -> outcome.problem().isEmpty()).hasSize(2);
        assertThat(outcomes).filteredOn(outcome -> outcome.problem().isPresent()).singleElement()
                .satisfies(outcome -> assertThat(outcome.problem().orElseThrow()).startsWith("w2: cache-admin failed").contains("surprise").endsWith("."));
    }

    @Test
    void testAsManyAtATimeAsAllowed()
            throws IOException, ClusterFileException
    {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        // ends only if three run at once
        CyclicBarrier three = new CyclicBarrier(3);
        new HostTasks(3, progress).run(hosts(9), host -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                three.await();
            }
            catch (Exception e) {
                throw new TaskException(e.toString());
            }
            finally {
                running.decrementAndGet();
            }
            return HostOutcome.done(host, List.of());
        });
        assertThat(most).hasValue(3);
    }

    private List<ClusterHost> hosts(int count)
            throws IOException, ClusterFileException
    {
        return ClusterFile.read(Files.writeString(directory.resolve("hosts.yaml"), "workers: ['w[1-%s]']\n".formatted(count))).hosts();
    }
}
