package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.settings.SecretFile;
import io.cachedhive.admin.settings.SecretFile.Content;
import io.cachedhive.admin.settings.SecretFile.Second;
import io.cachedhive.admin.task.HostOutcome;
import io.cachedhive.protocol.security.SecretKeys;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Exchanges the shared secret of a cluster in use, so that no read fails. Both secrets are valid until every cache worker
 * and every connection uses the new one:
 * <ol>
 * <li>The new secret becomes the second one on all hosts.
 * <li>It becomes the first one on all hosts, and clients reconnect with it.
 * <li>When no connection uses the former secret, it is removed from all hosts.
 * </ol>
 * The secret file of this machine holds the current step, and is written before the hosts. A run that was interrupted is
 * therefore continued by the next one.
 */
public final class SecretRotation
{
    private static final Duration RELOAD_DEADLINE = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofMillis(500);
    /// Until Trino servers, which report no secrets, have read their files again.
    static final Duration CLIENT_RELOAD = io.cachedhive.protocol.security.SecretFile.MAX_AGE.multipliedBy(2);

    private final List<ClusterHost> hosts;
    private final Hosts access;
    private final SecretStore store;
    private final Duration patience;
    private final LongSupplier nanoTime;
    private final Sleeper sleeper;
    private final Consumer<String> progress;

    private final Map<ClusterHost, List<String>> notes = new LinkedHashMap<>();
    private final Map<ClusterHost, String> problems = new LinkedHashMap<>();
    private List<ClusterHost> running = List.of();

    /**
     * The files and cache workers of the hosts.
     */
    public interface Hosts
    {
        /// Reads the secret files of all hosts.
        ///
        /// @return by host; a failed host has a problem
        Map<ClusterHost, FoundSecrets> read();

        /// Writes the secret files of all hosts where they differ.
        List<HostOutcome> write(Content content);

        /// Requests the status of cache workers, with a proof of the secret.
        Map<ClusterHost, WorkerSecrets> status(List<ClusterHost> workers, String secret);
    }

    /**
     * The secrets that a host has.
     *
     * @param files the secrets of each file, the preferred one first
     * @param isRunning whether the host has a cache worker that runs
     * @param problem why the host cannot take part
     */
    public record FoundSecrets(List<List<String>> files, boolean isRunning, Optional<String> problem)
    {
        public FoundSecrets
        {
            files = List.copyOf(files);
            requireNonNull(problem, "problem is null");
        }
    }

    /**
     * The answer of a cache worker.
     *
     * @param fingerprints of its valid secrets, the preferred one first; empty without an answer
     * @param formerConnections connections of peers that do not use its preferred secret
     * @param isRefused whether it refused the secret
     * @param problem why there is no answer
     */
    public record WorkerSecrets(Optional<List<String>> fingerprints, OptionalLong formerConnections, boolean isRefused, String problem)
    {
        public WorkerSecrets
        {
            requireNonNull(fingerprints, "fingerprints is null");
            requireNonNull(formerConnections, "formerConnections is null");
            requireNonNull(problem, "problem is null");
        }
    }

    /**
     * The secret file of this machine.
     */
    public interface SecretStore
    {
        Content read()
                throws ClusterFileException;

        void write(Content content)
                throws ClusterFileException;
    }

    public interface Sleeper
    {
        void sleep(Duration duration);
    }

    private static final class StoppedException
            extends Exception {}

    /// @param patience for connections to use the new secret
    /// @param progress takes a line about each step
    public SecretRotation(
            List<ClusterHost> hosts,
            Hosts access,
            SecretStore store,
            Duration patience,
            LongSupplier nanoTime,
            Sleeper sleeper,
            Consumer<String> progress)
    {
        this.hosts = List.copyOf(hosts);
        this.access = requireNonNull(access, "access is null");
        this.store = requireNonNull(store, "store is null");
        this.patience = requireNonNull(patience, "patience is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.sleeper = requireNonNull(sleeper, "sleeper is null");
        this.progress = requireNonNull(progress, "progress is null");
    }

    /// @param newSecret to rotate to; empty for a random one
    /// @param dryRun whether to check the hosts, and change nothing
    /// @return by host, in their order; a host with a problem stopped the rotation
    /// @throws ClusterFileException if the secret file of this machine cannot be used
    public List<HostOutcome> run(Optional<String> newSecret, boolean dryRun)
            throws ClusterFileException
    {
        Content content = store.read();
        if (content.other().isPresent() && content.second().isEmpty()) {
            throw new ClusterFileException("The secret file has two secrets, and cache-admin did not write the second one: "
                    + "complete that rotation by hand, and remove the former secret.");
        }
        if (newSecret.isPresent()) {
            // in use already, or another one than the rotation in progress has
            Optional<String> rotatesTo = content.second().equals(Optional.of(Second.NEW)) ? content.other() : Optional.of(content.preferred());
            if (content.other().isPresent() && !newSecret.equals(rotatesTo)) {
                throw new ClusterFileException("A rotation to another secret is in progress: complete it with cache-admin secret rotate without --secret-file.");
            }
            if (content.other().isEmpty() && newSecret.get().equals(content.preferred())) {
                throw new ClusterFileException("The file of --secret-file has the secret that is in use: name a file with another one.");
            }
        }
        try {
            Optional<String> former = readHosts(content);
            if (content.other().isEmpty() && former.isEmpty()) {
                String secret = newSecret.orElseGet(SecretFile::generate);
                if (dryRun) {
                    hosts.forEach(host -> note(host, "add a new secret, prefer it, and remove the present one"));
                    return outcomes();
                }
                content = content.withNew(secret);
                store.write(content);
            }
            else if (dryRun) {
                String rest = "remove the former secret";
                if (content.second().isPresent()) {
                    rest = (content.second().get() == Second.NEW ? "add the new secret, " : "") + "prefer the new secret, and " + rest;
                }
                String next = "continue: " + rest;
                hosts.forEach(host -> note(host, next));
                return outcomes();
            }
            if (content.second().equals(Optional.of(Second.NEW))) {
                progress.accept("Step 1 of 3: add the new secret on all hosts.");
                write(content, "new secret added");
                awaitWorkers(content, RELOAD_DEADLINE, _ -> true);
                content = content.swapped();
                store.write(content);
            }
            if (content.second().equals(Optional.of(Second.FORMER))) {
                progress.accept("Step 2 of 3: prefer the new secret on all hosts, and wait until no connection uses the former one.");
                former = content.other();
                write(content, "new secret preferred");
                long written = nanoTime.getAsLong();
                awaitWorkers(content, RELOAD_DEADLINE, _ -> true);
                awaitWorkers(content, patience, secrets -> secrets.formerConnections().orElse(0) == 0);
                while (nanoTime.getAsLong() - written < CLIENT_RELOAD.toNanos()) {
                    sleeper.sleep(PAUSE);
                }
                // nothing is removed anywhere unless every host can be changed
                readHosts(content);
                content = content.withoutFormer();
                store.write(content);
            }
            progress.accept("Step 3 of 3: remove the former secret from all hosts.");
            write(content, "former secret removed");
            awaitWorkers(content, RELOAD_DEADLINE, _ -> true);
            checkRefused(former.orElseThrow());
        }
        catch (StoppedException _) {
            // the problems say why
        }
        return outcomes();
    }

    /// Checks that each host can be changed and is at this step of the rotation, or at the one before.
    ///
    /// @return the former secret, if this machine no longer has it and a host does
    private Optional<String> readHosts(Content content)
            throws StoppedException
    {
        Map<ClusterHost, FoundSecrets> found = access.read();
        Optional<String> former = Optional.empty();
        List<ClusterHost> workers = new ArrayList<>();
        for (ClusterHost host : hosts) {
            FoundSecrets secrets = found.get(host);
            if (secrets.problem().isPresent()) {
                problems.put(host, secrets.problem().get());
                continue;
            }
            for (List<String> file : secrets.files()) {
                boolean known = content.other().isPresent() ?
                        !file.isEmpty() && content.secrets().containsAll(file) :
                        !file.isEmpty() && file.getFirst().equals(content.preferred());
                if (!known) {
                    problems.put(host, ("%s: its secret is not the one of secret-file: if another machine rotated the secret, copy the secret file from there, "
                            + "otherwise run cache-admin config push --hosts %s.").formatted(host, host));
                }
                else if (content.other().isEmpty() && file.size() > 1) {
                    former = Optional.of(file.get(1));
                }
            }
            if (secrets.isRunning()) {
                workers.add(host);
            }
            else if (host.isWorker()) {
                note(host, "its cache worker does not run, and will use the new secret");
            }
        }
        running = List.copyOf(workers);
        stopIfProblem();
        return former;
    }

    private void write(Content content, String note)
            throws StoppedException
    {
        for (HostOutcome outcome : access.write(content)) {
            outcome.problem().ifPresentOrElse(
                    problem -> problems.put(outcome.host(), problem),
                    () -> {
                        if (!outcome.notes().isEmpty()) {
                            note(outcome.host(), note);
                        }
                    });
        }
        stopIfProblem();
    }

    private void awaitWorkers(Content content, Duration deadline, Function<WorkerSecrets, Boolean> done)
            throws StoppedException
    {
        List<String> expected = content.secrets().stream().map(SecretKeys::fingerprint).toList();
        long start = nanoTime.getAsLong();
        List<ClusterHost> remaining = new ArrayList<>(running);
        Map<ClusterHost, WorkerSecrets> last = new LinkedHashMap<>();
        while (!remaining.isEmpty()) {
            // all of them, also those that were ready: another connection may have been made with the former secret meanwhile
            last.putAll(access.status(running, content.preferred()));
            remaining.clear();
            running.stream()
                    .filter(worker -> !last.get(worker).fingerprints().equals(Optional.of(expected)) || !done.apply(last.get(worker)))
                    .forEach(remaining::add);
            if (remaining.isEmpty()) {
                return;
            }
            if (nanoTime.getAsLong() - start >= deadline.toNanos()) {
                for (ClusterHost worker : remaining) {
                    problems.put(worker, describe(worker, last.get(worker), expected, deadline));
                }
                stopIfProblem();
            }
            sleeper.sleep(PAUSE);
        }
    }

    private static String describe(ClusterHost worker, WorkerSecrets secrets, List<String> expected, Duration deadline)
    {
        if (secrets.fingerprints().isEmpty()) {
            return "%s: its cache worker did not answer within %s s (%s): see cache-admin status, and run the command again."
                    .formatted(worker, deadline.toSeconds(), secrets.problem());
        }
        if (!secrets.fingerprints().get().equals(expected)) {
            return ("%s: its cache worker has not read its secret file within %s s: see problem in cache-admin status, restart it if it was started "
                    + "without internal-communication.shared-secret-file, and run the command again.").formatted(worker, deadline.toSeconds());
        }
        return ("%s: %s connections still use the former secret after %s s: restart the Trino servers that were started without cachedhive.shared-secret-file, "
                + "and run the command again. Both secrets stay valid.").formatted(worker, secrets.formerConnections().orElse(0), deadline.toSeconds());
    }

    private void checkRefused(String former)
            throws StoppedException
    {
        access.status(running, former).forEach((worker, secrets) -> {
            if (secrets.isRefused()) {
                note(worker, "former secret refused");
            }
            else if (secrets.fingerprints().isPresent()) {
                problems.put(worker, "%s: its cache worker still accepts the former secret: restart it (cache-admin restart --hosts %s).".formatted(worker, worker));
            }
            else {
                problems.put(worker, "%s: it could not be checked that its cache worker refuses the former secret (%s): run cache-admin doctor."
                        .formatted(worker, secrets.problem()));
            }
        });
        stopIfProblem();
    }

    private void note(ClusterHost host, String note)
    {
        List<String> all = notes.computeIfAbsent(host, _ -> new ArrayList<>());
        if (!all.contains(note)) {
            all.add(note);
        }
    }

    private void stopIfProblem()
            throws StoppedException
    {
        if (!problems.isEmpty()) {
            throw new StoppedException();
        }
    }

    private List<HostOutcome> outcomes()
    {
        return hosts.stream()
                .map(host -> new HostOutcome(host, notes.getOrDefault(host, List.of()), Map.of(), Optional.ofNullable(problems.get(host))))
                .toList();
    }

    /// @return the secrets in the text of a host's file
    public static List<String> parse(String text)
    {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#")).distinct().toList();
    }

    /// @return the files of a host that do not use the secret files, and how to fix that
    public static Optional<String> unprepared(ClusterHost host, Set<String> missing)
    {
        if (missing.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of("%s: %s has no file of the secret: run cache-admin config push --hosts %s, and restart its cache worker and Trino."
                .formatted(host, String.join(", ", missing), host));
    }
}
