package io.cachedhive.worker.request;

import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.ReportProblem;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that cannot connect to the Unix socket report it over TCP.
 */
@Timeout(60)
class TestReportedProblems
{
    private static Optional<String> problem(WireClient client)
    {
        return ((Stats) client.ask(new GetStats())).problem();
    }

    @Test
    void areShownUntilTheNodeConnects(@TempDir Path directory)
            throws Exception
    {
        try (TestingWorker worker = new TestingWorker(directory).start();
                WireClient client = worker.connectTcp()) {
            assertThat(problem(client)).isEmpty();
            assertThat(client.ask(new ReportProblem("no permission to connect"))).isInstanceOf(Ack.class);
            assertThat(problem(client)).hasValueSatisfying(problem -> assertThat(problem)
                    .startsWith("Trino node ")
                    .endsWith(" cannot use the cache worker of its host: no permission to connect"));
            try (WireClient other = worker.connect("other", worker.origins())) {
                assertThat(problem(other)).isEmpty();
            }
            assertThat(problem(client)).isPresent();
            try (WireClient local = worker.connect()) {
                local.ask(new Ping());
                assertThat(problem(client)).isEmpty();
            }
        }
    }
}
