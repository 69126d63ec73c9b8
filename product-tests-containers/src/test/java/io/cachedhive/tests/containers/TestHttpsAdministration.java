package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code cache-admin} with cache workers whose API is HTTPS only, and a coordinator that requires a password over HTTPS: every command works, and each cause why
 * it cannot is one sentence.
 */
// the cluster is as it was afterwards, with one cache worker that was started again
@Test(groups = "doctor", singleThreaded = true, priority = 1)
public class TestHttpsAdministration
{
    // of Debian
    private static final String OTHER_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testWorkers()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        Administrator administrator = cluster.administrator();

        CommandResult status = administrator.status();
        assertThat(status.exitCode()).as(status.text()).isZero();
        assertThat(status.output().lines().filter(line -> line.contains("RUNNING"))).as(status.text()).hasSize(3);
        CommandResult doctor = administrator.cacheAdmin("doctor");
        assertThat(doctor.exitCode()).as(doctor.text()).isZero();

        String hosts = administrator.hostsFile();
        checkRefused(
                administrator.cacheAdminWith(hosts.replace("http-scheme: https", "http-scheme: http"), "status", "--hosts", "worker-1"),
                "worker-1:8485",
                "http-scheme");
        String untrusting = hosts.replace("truststore-path: ~/https.pem\n", "truststore-path: %s\n".formatted(OTHER_AUTHORITIES));
        checkRefused(
                administrator.cacheAdminWith(untrusting, "status", "--hosts", "worker-1"),
                "worker-1:8485 cannot be reached by HTTPS (no authority of the truststore signed its certificate)",
                "compare http-scheme and tls");
        CommandResult faults = administrator.cacheAdminWith(untrusting, "doctor", "--hosts", "worker-1");
        assertThat(faults.exitCode()).as(faults.text()).isEqualTo(4);
        assertThat(faults.output()).contains("worker-1:8485 cannot be reached by HTTPS (no authority of the truststore signed its certificate)", "compare http-scheme and tls");
        CommandResult undrained = administrator.cacheAdminWith(untrusting, "drain", "--hosts", "worker-1");
        assertThat(undrained.exitCode()).as(undrained.text()).isEqualTo(1);
        assertThat(undrained.error()).contains("worker-1:8485 cannot be reached by HTTPS");

        CommandResult drained = administrator.cacheAdmin("drain", "--hosts", "worker-3", "--deadline", "2s");
        assertThat(drained.exitCode()).as(drained.text()).isZero();
        ContainerHost worker = cluster.hosts().worker(3);
        Await.until("the drained cache worker ends", Patience.LIMIT, QUERY_PAUSE, () -> !Ports.isOpen(worker.address(), Ports.CACHE_WORKER));
        CommandResult started = administrator.start("--hosts", "worker-3");
        assertThat(started.exitCode()).as(started.text()).isZero();
        cluster.awaitCacheWorkers();
    }

    public void testTrino()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        Administrator administrator = cluster.administrator();
        try (LineItems table = LineItems.create(cluster, "flushed")) {
            Await.until("files of the table are cached", Patience.LIMIT, QUERY_PAUSE, () -> {
                cluster.rows(table.checksumQuery("cachedhive"));
                return cachedFiles(cluster) > 0;
            });
            CommandResult flush = administrator.cacheAdmin("flush", "shop.flushed");
            assertThat(flush.exitCode()).as(flush.text()).isZero();
            assertThat(flush.output()).contains("cachedhive: done (query ");
            assertThat(cachedFiles(cluster)).isZero();
        }

        CommandResult disable = administrator.cacheAdmin("disable");
        assertThat(disable.exitCode()).as(disable.text()).isZero();
        assertThat(problems(cluster)).allMatch(problem -> problem.contains("its mode is OFF"));
        CommandResult enable = administrator.cacheAdmin("enable");
        assertThat(enable.exitCode()).as(enable.text()).isZero();
        assertThat(problems(cluster)).isEmpty();

        String hosts = administrator.hostsFile();
        for (String command : List.of("disable", "flush shop.flushed")) {
            String other = hosts.replace(Administrator.PASSWORD_FILE, "/etc/hostname");
            checkRefused(administrator.cacheAdminWith(other, command), "https://coordinator:8443 refuses the login of operator (HTTP 401)", "trino-user");
            String none = hosts.replace("trino-password-file: %s\n".formatted(Administrator.PASSWORD_FILE), "");
            checkRefused(administrator.cacheAdminWith(none, command), "https://coordinator:8443 requires authentication (HTTP 401)", "trino-password-file");
            String untrusting = hosts.replace("truststore-path: ~/https.pem\n", "truststore-path: %s\n".formatted(OTHER_AUTHORITIES));
            checkRefused(
                    administrator.cacheAdminWith(untrusting, command),
                    "https://coordinator:8443 cannot be reached by HTTPS (no authority of the truststore signed its certificate)",
                    "correct tls");
        }
        assertThat(problems(cluster)).as("after commands that were refused").isEmpty();
    }

    private static long cachedFiles(InstalledCluster cluster)
            throws Exception
    {
        return (long) cluster.rows("SELECT count(*) FROM cachedhive.cache.files WHERE schema_name = 'shop' AND table_name = 'flushed'").getFirst().getFirst();
    }

    private static List<String> problems(InstalledCluster cluster)
            throws Exception
    {
        return cluster.rows("SELECT problem FROM cachedhive.cache.stats WHERE problem IS NOT NULL").stream().map(row -> (String) row.getFirst()).toList();
    }

    private static void checkRefused(CommandResult result, String... sentence)
    {
        assertThat(result.exitCode()).as(result.text()).isEqualTo(1);
        assertThat(result.error().lines()).as("one sentence").singleElement().asString().contains(sentence).endsWith(".");
    }
}
