package io.cachedhive.admin.doctor;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.fault.Fault.Kind;
import io.cachedhive.admin.install.HostChecks;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.PropertiesText;
import io.cachedhive.admin.worker.WorkerFields;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Finds what is wrong with a cluster, out of what its hosts told: each host for itself, against what it is to have, and against the others.
 */
public final class Diagnosis
{
    /// How many of the other workers each host is asked to reach: together they cover every worker several times.
    private static final int NEIGHBOURS = 5;

    /// Of Trino's JVM, as in docs/configuration.md: the cipher of TLS is slow without them until Java compiles it.
    private static final List<String> TRINO_JVM_OPTIONS = List.of(
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.01");

    private final List<HostState> states;
    private final List<String> secrets;
    private final boolean secretIsMissing;
    private final Map<String, String> origins;
    private final List<Fault> faults = new ArrayList<>();

    private Diagnosis(List<HostState> states, List<String> secrets, boolean secretIsMissing, Map<String, String> origins)
    {
        this.states = List.copyOf(states);
        this.secrets = List.copyOf(secrets);
        this.secretIsMissing = secretIsMissing;
        this.origins = Map.copyOf(origins);
    }

    /// @param secrets that are valid, the preferred one first
    /// @param secretIsMissing whether a file is named for it and does not exist on this machine
    /// @param origins the cache workers' files of object stores, by name
    /// @return in the order of the hosts; empty if all is well
    public static List<Fault> of(List<HostState> states, List<String> secrets, boolean secretIsMissing, Map<String, String> origins)
    {
        Diagnosis diagnosis = new Diagnosis(states, secrets, secretIsMissing, origins);
        diagnosis.run();
        return diagnosis.faults;
    }

    /// Which cache workers the host is to reach, as `address:port`: a coordinator all, a worker those behind it in the file.
    ///
    /// @param address of a worker
    public static List<String> targets(ClusterHost host, List<ClusterHost> workers, Function<ClusterHost, Optional<String>> address)
    {
        List<ClusterHost> others = new ArrayList<>();
        if (host.isCoordinator()) {
            others.addAll(workers);
        }
        else {
            int own = workers.indexOf(host);
            for (int i = 1; i <= Math.min(NEIGHBOURS, workers.size() - 1); i++) {
                others.add(workers.get((own + i) % workers.size()));
            }
        }
        return others.stream()
                .flatMap(worker -> address.apply(worker).map(text -> text + ":" + worker.workerPort()).stream())
                .toList();
    }

    private void run()
    {
        Optional<String> usual = usualRelease();
        for (HostState state : states) {
            if (state.facts().isEmpty()) {
                faults.add(new Fault(state.host().name(), Kind.UNREACHABLE, state.unreachable().orElse(state.host() + " cannot be reached.")));
                continue;
            }
            HostFacts facts = state.facts().get();
            faults.addAll(HostChecks.check(state.host(), facts, 0));
            if (facts.text("current").isEmpty()) {
                add(state, Kind.NOT_INSTALLED, "nothing is installed in %s: run cache-admin install.", state.host().installDirectory());
                continue;
            }
            files(state, facts, usual.orElseThrow());
            secrets(state, facts);
            if (state.host().isWorker()) {
                worker(state, facts);
            }
            if (state.host().trinoHome().isPresent() && facts.is("trino.exists")) {
                trino(state, facts);
            }
            reachability(state, facts);
        }
    }

    /// That most hosts have.
    private Optional<String> usualRelease()
    {
        Map<String, Long> releases = states.stream()
                .flatMap(state -> state.facts().flatMap(facts -> facts.text("current")).stream())
                .collect(Collectors.groupingBy(release -> release, Collectors.counting()));
        return releases.entrySet().stream()
                .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey(Comparator.naturalOrder())))
                .map(Map.Entry::getKey);
    }

    private void files(HostState state, HostFacts facts, String usual)
    {
        String current = facts.text("current").orElseThrow();
        if (!current.equals(usual)) {
            add(state, Kind.VERSION_DRIFT, "release %s is installed, and %s on most hosts: run cache-admin install with the package of that one.", current, usual);
        }
        if (facts.text("release").equals(Optional.of("damaged")) || facts.text("release").equals(Optional.of("absent"))) {
            add(state, Kind.DAMAGED_FILES, "files of release %s are changed or missing: run cache-admin install with its package, which restores them.", current);
        }
        Optional<String> running = facts.text("running_release");
        if (running.isPresent() && !running.get().equals(current)) {
            add(state, Kind.VERSION_DRIFT, "the cache worker still runs release %s, and %s is installed: run cache-admin restart --hosts %s.", running.get(), current,
                    state.host());
        }
        List<String> drifted = new ArrayList<>();
        for (HostFile file : state.wanted()) {
            String digest = facts.text("file:" + file.path()).orElse("missing");
            if (!digest.equals(file.digest())) {
                drifted.add(file.path() + (digest.equals("missing") ? " is missing" : " differs"));
            }
        }
        if (!drifted.isEmpty()) {
            add(state, Kind.CONFIG_DRIFT, "%s from what it is to be: see cache-admin config diff --hosts %s, then config push, or take the change over into the hosts file.",
                    String.join(", ", drifted), state.host());
        }
    }

    private void secrets(HostState state, HostFacts facts)
    {
        facts.list("readable_secret").stream().distinct().forEach(file -> add(
                state,
                Kind.SECRET,
                "%s has a secret, and every user of the host can read it: run cache-admin config push --hosts %s, or chmod o-r %s if cache-admin does not write this file.",
                file,
                state.host(),
                file));
        if (secretIsMissing && facts.hasSecret()) {
            add(state, Kind.SECRET, "it has a shared secret, and the secret-file does not exist on this machine: copy it from where cache-admin install ran.");
            return;
        }
        // of a file with all of them, or of a property with one
        Set<String> expected = Set.copyOf(List.of(HostFile.sha256(String.join("", secrets)), HostFile.sha256(secrets.isEmpty() ? "" : secrets.getFirst())));
        if (facts.text("worker.secret").map(found -> !expected.contains(found)).orElse(false)) {
            add(state, Kind.SECRET,
                    "internal-communication.shared-secret of its cache worker is not the one of secret-file: run cache-admin config push --hosts %s, and restart it.",
                    state.host());
        }
        for (String catalog : facts.list("catalog")) {
            if (facts.text("catalog." + catalog + ".secret").map(found -> !expected.contains(found)).orElse(false)) {
                add(state, Kind.SECRET,
                        "cachedhive.shared-secret of the catalog %s is not the one of secret-file: run cache-admin config push --hosts %s, and restart Trino there.",
                        catalog, state.host());
            }
        }
    }

    private void worker(HostState state, HostFacts facts)
    {
        ClusterHost host = state.host();
        for (int index = 0; index < host.ssd().size(); index++) {
            if (!facts.is("ssd." + index + ".exists")) {
                add(state, Kind.DIRECTORY, "the ssd directory %s does not exist: mount its disk, or run cache-admin install, which makes it.", host.ssd().get(index).path());
            }
        }
        if (!facts.is("data.exists")) {
            add(state, Kind.DIRECTORY, "%s/data does not exist, where the cache worker keeps its state and logs: run cache-admin install, which makes it.",
                    host.installDirectory());
        }
        if (facts.text("pid").isEmpty()) {
            add(state, Kind.NOT_RUNNING, "its cache worker does not run%s: run cache-admin start --hosts %s.",
                    facts.text("start_problem").map(problem -> " (it ended last with: " + problem + ")").orElse(""), host);
            return;
        }
        if (!facts.is("socket.exists")) {
            add(state, Kind.DIRECTORY, "the directory of socket-path %s does not exist, so that Trino cannot connect: run cache-admin restart --hosts %s, which makes it.",
                    host.socketPath(), host);
        }
        if (state.status().isPresent()) {
            WorkerFields.of(state.status().get()).text("problem").ifPresent(problem -> add(state, Kind.WORKER_PROBLEM, "its cache worker reports: %s", problem));
        }
        else {
            state.statusProblem().ifPresent(problem -> add(
                    state,
                    problem.contains("requires the shared secret") ? Kind.SECRET : Kind.PORT,
                    "its cache worker runs, and this machine cannot ask it: %s",
                    problem));
        }
    }

    private void trino(HostState state, HostFacts facts)
    {
        ClusterHost host = state.host();
        String wanted = "%s/releases/%s/plugin".formatted(host.installDirectory(), facts.text("current").orElseThrow());
        Optional<String> target = facts.text("plugin.target");
        if (target.isEmpty() || !facts.is("plugin.jars")) {
            add(state, Kind.PLUGIN, "the plugin is not in %s/cachedhive: run cache-admin install, then restart Trino there.", host.pluginDirectory());
        }
        else if (!target.get().equals(wanted) && !isPluginForItsTrino(host, facts, target.get())) {
            add(state, Kind.PLUGIN, "%s/cachedhive is %s, and not the plugin of the installed release: run cache-admin install, then restart Trino there.",
                    host.pluginDirectory(), target.get());
        }
        // without a secret, Trino reads over the Unix socket only, and encrypts nothing
        if (facts.hasSecret() && facts.is("trino.jvm")) {
            List<String> missing = TRINO_JVM_OPTIONS.stream().filter(option -> !facts.list("trino.jvm_option").contains(option)).toList();
            if (!missing.isEmpty()) {
                add(state, Kind.TRINO, "Trino's first reads from other hosts are slow without the JVM options %s: add each as a line to %s/jvm.config, and restart Trino there.",
                        String.join(" and ", missing), host.trinoEtc());
            }
        }
        for (String catalog : facts.list("catalog")) {
            String name = "catalog." + catalog + ".";
            String port = facts.text(name + "cachedhive.worker.port").orElse("8484");
            if (host.isWorker() && !port.equals(Integer.toString(host.workerPort()))) {
                add(state, Kind.CATALOG, "cachedhive.worker.port of the catalog %s is %s, and worker-port %s: make them the same on all hosts.", catalog, port, host.workerPort());
            }
            String socket = facts.text(name + "cachedhive.worker.socket-path").orElse("/run/cachedhive/worker.sock");
            if (host.isWorker() && !socket.equals(host.socketPath())) {
                add(state, Kind.CATALOG, "cachedhive.worker.socket-path of the catalog %s is %s, and socket-path %s: make them the same.", catalog, socket, host.socketPath());
            }
            if (facts.text(name + "fs.cache.enabled").equals(Optional.of("true"))) {
                add(state, Kind.CATALOG, "the catalog %s has fs.cache.enabled=true, with which Trino does not start: run cache-admin config migrate on it.", catalog);
            }
            String origin = facts.text(name + "cachedhive.origin").orElse("default");
            if (!origins.isEmpty() && !origins.containsKey(origin)) {
                add(state, Kind.CATALOG, "the catalog %s refers to the origin %s, but the configuration directory has no origins/%s.properties: add it and run config push.",
                        catalog, origin, origin);
            }
            else if (!origins.isEmpty()) {
                Map<String, String> store = PropertiesText.read(origins.get(origin));
                for (String property : List.of("s3.endpoint", "s3.region")) {
                    Optional<String> there = facts.text(name + property);
                    if (!there.equals(Optional.ofNullable(store.get(property)))) {
                        add(state, Kind.CATALOG, "%s of the catalog %s is %s, and of the origin %s %s: set both to exactly the same value.",
                                property, catalog, there.orElse("not set"), origin, store.getOrDefault(property, "not set"));
                    }
                }
            }
        }
    }

    /// Trino was upgraded, and the cache worker was not yet: the plugin is the one of another release, since the current one is not for this Trino.
    private static boolean isPluginForItsTrino(ClusterHost host, HostFacts facts, String target)
    {
        String trino = facts.text("trino.version").orElse("");
        Optional<String> current = facts.text("release_trino:" + facts.text("current").orElseThrow());
        return current.isPresent() && !HostChecks.isSupported(trino, current)
                && List.of(facts.text("releases").orElse("").strip().split(" +")).stream()
                        .filter(release -> target.equals("%s/releases/%s/plugin".formatted(host.installDirectory(), release)))
                        .anyMatch(release -> HostChecks.isSupported(trino, facts.text("release_trino:" + release)));
    }

    private void reachability(HostState state, HostFacts facts)
    {
        for (HostState other : states) {
            if (!other.host().isWorker() || other.facts().isEmpty() || other.facts().get().text("pid").isEmpty()) {
                continue;
            }
            String suffix = ":" + other.host().workerPort();
            for (String address : addresses(other.host())) {
                if (facts.text("reaches:" + address + suffix).equals(Optional.of("no"))) {
                    add(state, Kind.PORT, "it cannot connect to the cache worker at %s%s, which runs: open the port in the firewalls, and compare bind-address there.", address,
                            suffix);
                }
            }
        }
    }

    private static List<String> addresses(ClusterHost host)
    {
        try {
            return List.of(HostFiles.address(host));
        }
        catch (ClusterFileException _) {
            // was told where its files were made
            return List.of();
        }
    }

    @SuppressWarnings("AnnotateFormatMethod") // the module has no annotations of Error Prone
    private void add(HostState state, Kind kind, String format, Object... values)
    {
        faults.add(new Fault(state.host().name(), kind, state.host() + ": " + String.format(Locale.ROOT, format, values)));
    }
}
