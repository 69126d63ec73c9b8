package io.cachedhive.admin.install;

import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.cluster.Size;
import io.cachedhive.admin.fault.Fault;
import io.cachedhive.admin.fault.Fault.Kind;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Whether a host has what a cache worker and the plugin need. Each fault is a sentence with its remedy.
 */
public final class HostChecks
{
    /// As long as proofs of the secret are good; a tenth of that is room enough for a network of hosts with NTP.
    private static final long MAX_SKEW_MILLIS = 10_000;
    private static final String TRINO_VERSION = "483";
    /// Logs, state, and the JVM's archive of classes.
    private static final long DATA_BYTES = 1L << 30;

    private static final List<String> HIDDEN_FROM_UNIT = List.of("/home", "/root", "/run/user", "/tmp", "/var/tmp");

    private final ClusterHost host;
    private final HostFacts facts;
    private final String trinoVersion;
    private final List<Fault> faults = new ArrayList<>();

    private HostChecks(ClusterHost host, HostFacts facts, String trinoVersion)
    {
        this.host = requireNonNull(host, "host is null");
        this.facts = requireNonNull(facts, "facts is null");
        this.trinoVersion = requireNonNull(trinoVersion, "trinoVersion is null");
    }

    /// For the release that this program is from.
    ///
    /// @param neededBytes in the install directory, besides what is there; 0 if nothing is to be copied
    public static List<Fault> check(ClusterHost host, HostFacts facts, long neededBytes)
    {
        return check(host, facts, neededBytes, TRINO_VERSION);
    }

    /// @param trinoVersion that the plugin is for
    public static List<Fault> check(ClusterHost host, HostFacts facts, long neededBytes, String trinoVersion)
    {
        HostChecks checks = new HostChecks(host, facts, trinoVersion);
        checks.programs();
        checks.clock();
        checks.installDirectory(neededBytes);
        if (host.isWorker()) {
            checks.java();
            checks.user();
            checks.memory();
            checks.sharedMemory();
            checks.ssd();
            checks.ports();
            checks.unit();
        }
        checks.trino();
        return checks.faults;
    }

    /// Whether a plugin works in a Trino server; of the same version, builds of companies are accepted.
    ///
    /// @param supported version that the plugin is for; none if its package does not name it, as that of this program
    public static boolean isSupported(String trinoVersion, Optional<String> supported)
    {
        return trinoVersion.matches(Pattern.quote(supported.orElse(TRINO_VERSION)) + "([-.+].+)?");
    }

    private void programs()
    {
        List<String> missing = facts.list("missing_program");
        if (!missing.isEmpty()) {
            add(Kind.PROGRAM_MISSING, "%s is missing there: install it (coreutils, diffutils, tar and gzip are needed, and for a login as root the programs of util-linux "
                    + "and shadow).", String.join(", ", missing));
        }
        if (!facts.text("kernel").orElse("Linux").equals("Linux")) {
            add(Kind.PROGRAM_MISSING, "it runs %s, and cache workers run on Linux: take it out of the hosts file.", facts.text("kernel").orElseThrow());
        }
    }

    private void clock()
    {
        if (Math.abs(facts.skewMillis()) > MAX_SKEW_MILLIS) {
            add(Kind.CLOCK, "its clock is %s s %s this machine's: let NTP or chrony set the clocks of both, or proofs of the shared secret are refused.",
                    Math.abs(facts.skewMillis()) / 1000, facts.skewMillis() > 0 ? "ahead of" : "behind");
        }
    }

    private void java()
    {
        if (facts.text("java_home").isEmpty()) {
            String seen = facts.text("java_seen").map(versions -> "found: " + versions).orElse("none was found");
            add(Kind.JAVA, "no JDK 25 or newer was found %s (%s): install one, or name its directory as java-home in the hosts file.",
                    host.javaHome().map(home -> "in " + home).orElse("there"), seen);
        }
    }

    private void user()
    {
        String user = facts.text("run_as").orElse("");
        boolean root = facts.number("uid").orElse(1) == 0;
        boolean exists = facts.is("run_as_exists");
        // the installation creates these two
        boolean ownUser = root && user.equals(ClusterHost.OWN_USER);
        boolean ownGroup = root && host.socketGroup().equals(Optional.of(ClusterHost.OWN_SOCKET_GROUP));
        if (!root && !user.equals(facts.text("user").orElse(""))) {
            add(Kind.USER, "the login %s cannot start a process of the user %s: log in as root or as %s (ssh-user), set sudo to true, or set run-as to %s.",
                    facts.text("user").orElse(""), user, user, facts.text("user").orElse(""));
        }
        else if (!exists && !ownUser) {
            add(Kind.USER, "the user %s does not exist there: create it, or name another one as run-as in the hosts file.", user);
        }
        else if (host.socketGroup().isPresent() && exists && !ownGroup
                && !List.of(facts.text("run_as_groups").orElse("").split(" ")).contains(host.socketGroup().get())) {
            add(Kind.USER, "the user %s is not in the group %s of socket-group: add it (usermod -a -G %s %s).", user, host.socketGroup().get(), host.socketGroup().get(), user);
        }
    }

    private void installDirectory(long neededBytes)
    {
        if (facts.text("install.blocked_by").isPresent()) {
            add(Kind.DIRECTORY, "%s is a file, where install-directory %s is to be: remove it, or choose another install-directory.", facts.text("install.blocked_by").get(),
                    host.installDirectory());
            return;
        }
        if (facts.text("install.unsafe").isPresent()) {
            add(Kind.PERMISSION, "install-directory %s is not safe: %s", host.installDirectory(), facts.text("install.unsafe").get());
        }
        else if (facts.text("install.controller").isPresent()) {
            add(Kind.PERMISSION, "install-directory %s is in a directory of the user %s, who could exchange what root installs there: choose another install-directory, "
                    + "or log in as that user.", host.installDirectory(), facts.text("install.controller").get());
        }
        if (facts.text("install.overlaps").isPresent()) {
            add(Kind.DIRECTORY, "install-directory %s and Trino's %s lie in one another, so that neither could be changed or removed alone: choose another install-directory.",
                    host.installDirectory(), facts.text("install.overlaps").get());
        }
        else if (facts.text("install.foreign").isPresent()) {
            add(Kind.DIRECTORY, "%s is there already, and not from cache-admin, as install-directory %s has no kept/record: choose another install-directory, or move it away.",
                    facts.text("install.foreign").get(), host.installDirectory());
        }
        if (!facts.is("install.writable")) {
            add(Kind.PERMISSION, "the login %s may not write to %s: log in as another user, set sudo to true, or choose another install-directory.",
                    facts.text("user").orElse(""), facts.text("install.nearest").orElse(host.installDirectory()));
        }
        if (facts.text("install.noexec").isPresent()) {
            add(Kind.DIRECTORY, "%s is mounted noexec, so that no program runs from install-directory %s: mount it with exec, or choose another install-directory.",
                    facts.text("install.noexec").get(), host.installDirectory());
        }
        refusal("install", "install-directory " + host.installDirectory(), "enter");
        refusal("data", "the directory of its state and logs", "write to");
        long free = facts.number("install.free_bytes").orElse(Long.MAX_VALUE);
        if (neededBytes > 0 && free < neededBytes) {
            add(Kind.DISK_SPACE, "%s has %s free, but the installation needs %s: free disk space, or choose another install-directory.",
                    facts.text("install.nearest").orElse(host.installDirectory()), Size.show(free), Size.show(neededBytes));
        }
    }

    private void memory()
    {
        OptionalLong memory = facts.number("memory_bytes");
        if (memory.isEmpty()) {
            return;
        }
        long trino = facts.trinoHeapBytes().orElse(0);
        long reserve = memory.getAsLong() / 10;
        long sum = trino + host.ram().bytes() + host.daemonBytes() + reserve;
        if (sum > memory.getAsLong()) {
            add(Kind.MEMORY, "%s of memory are needed and %s has %s (Trino's -Xmx %s + ram-size %s + cache worker %s + a tenth for the system %s): lower ram-size or Trino's -Xmx.",
                    Size.show(sum),
                    facts.text("memory_from").orElse("host").equals("cgroup") ? "its control group" : "it",
                    Size.show(memory.getAsLong()),
                    Size.show(trino),
                    Size.show(host.ram().bytes()),
                    Size.show(host.daemonBytes()),
                    Size.show(reserve));
        }
    }

    private void sharedMemory()
    {
        // the cache worker creates the directory itself, and none above it
        String parent = host.ramDirectory().substring(0, Math.max(1, host.ramDirectory().lastIndexOf('/')));
        if (!facts.is("ram.exists") && !facts.text("ram.nearest").equals(Optional.of(parent))) {
            add(Kind.DIRECTORY, "ram-directory %s and the directory above it do not exist: mount a tmpfs there, or use /dev/shm/cachedhive.", host.ramDirectory());
            return;
        }
        refusal("ram", "ram-directory", "write to");
        long size = facts.number("ram.size_bytes").orElse(Long.MAX_VALUE);
        long free = facts.number("ram.free_bytes").orElse(Long.MAX_VALUE);
        if (size < host.ram().bytes()) {
            add(Kind.SHARED_MEMORY, "%s is %s, and ram-size is %s: mount it larger (mount -o remount,size=%s %s, and in /etc/fstab), or lower ram-size.",
                    host.ramDirectory(), Size.show(size), host.ram(), host.ram().bytes() + (host.ram().bytes() >> 4), host.ramDirectory());
        }
        else if (facts.text("pid").isEmpty() && free < host.ram().bytes()) {
            add(Kind.SHARED_MEMORY, "%s has %s free, and ram-size is %s: see what else takes it (ls -l %s), or mount it larger.", host.ramDirectory(), Size.show(free),
                    host.ram(), host.ramDirectory());
        }
    }

    private void ssd()
    {
        Map<String, Long> missingByDevice = new HashMap<>();
        for (int index = 0; index < host.ssd().size(); index++) {
            String path = host.ssd().get(index).path();
            String name = "ssd." + index;
            if (facts.text(name + ".blocked_by").isPresent()) {
                add(Kind.DIRECTORY, "%s is a file, where the ssd directory %s is to be: remove it, or choose another directory.", facts.text(name + ".blocked_by").get(), path);
                continue;
            }
            if (!facts.is(name + ".writable")) {
                add(Kind.PERMISSION, "the login %s may not write to %s for the ssd directory %s: give it the right, or choose another directory.",
                        facts.text("user").orElse(""), facts.text(name + ".nearest").orElse(path), path);
            }
            refusal(name, "ssd directory " + path, "write to");
            long wanted = Math.max(0, host.ssd().get(index).bytes(facts.number(name + ".size_bytes").orElse(0)) - facts.number(name + ".used_bytes").orElse(0));
            long sum = missingByDevice.merge(facts.text(name + ".device").orElse(name), wanted, Long::sum);
            long free = facts.number(name + ".free_bytes").orElse(Long.MAX_VALUE);
            if (sum > free) {
                add(Kind.DISK_SPACE, "the disk of %s has %s free, but %s more are configured on it (%s): free disk space, or lower that value in the hosts file.",
                        path, Size.show(free), Size.show(sum), host.ssd().get(index).capacity());
            }
        }
    }

    /// What the login may do, and the cache worker's user not.
    private void refusal(String name, String what, String right)
    {
        Optional<String> place = facts.text(name + ".refuses");
        if (place.isPresent()) {
            String user = facts.text("run_as").orElse("");
            add(Kind.PERMISSION, "the user %s, as whom the cache worker runs, may not %s %s (%s): give it the right (chown %s %s), or name another directory, or another run-as.",
                    user, right, place.get(), what, user, place.get());
        }
    }

    /// What the unit hides from its process, by ProtectHome and PrivateTmp.
    private void unit()
    {
        if (!facts.text("service").equals(Optional.of("systemd"))) {
            return;
        }
        Map<String, String> places = new LinkedHashMap<>();
        places.put("install-directory", host.installDirectory());
        facts.text("java_home").ifPresent(home -> places.put("java-home", home));
        places.put("ram-directory", host.ramDirectory());
        places.put("socket-path", host.socketPath());
        host.ssd().forEach(directory -> places.put("ssd directory " + directory.path(), directory.path()));
        places.forEach((name, path) -> {
            Optional<String> hidden = HIDDEN_FROM_UNIT.stream().filter(place -> path.equals(place) || path.startsWith(place + "/")).findFirst();
            if (hidden.isPresent()) {
                add(Kind.DIRECTORY, "%s is in %s, of which a service of systemd sees nothing: choose another place%s, or set service to launcher in the hosts file.",
                        name.endsWith(path) ? name : name + " " + path, hidden.get(), name.equals("java-home") ? " for the JDK" : "");
            }
        });
    }

    private void ports()
    {
        if (facts.text("pid").isPresent()) {
            return;
        }
        for (int port : new int[] {host.workerPort(), host.httpPort()}) {
            if (facts.text("port." + port).equals(Optional.of("busy"))) {
                add(Kind.PORT, "something else listens on port %s: stop it, or choose another %s in the hosts file.", port,
                        port == host.workerPort() ? "worker-port" : "http-port");
            }
        }
    }

    private void trino()
    {
        if (host.trinoHome().isEmpty()) {
            return;
        }
        String home = host.trinoHome().get();
        if (!facts.is("trino.exists")) {
            add(Kind.TRINO, "trino-home %s does not exist there: correct it in the hosts file, or leave it out for a host without Trino.", home);
            return;
        }
        if (facts.number("uid").orElse(1) == 0 && host.trinoRunAs().isEmpty() && List.of("", "root").contains(facts.text("trino.user").orElse(""))) {
            add(Kind.USER, "Trino would run as root, as what it writes to there is root's, or was not found: name trino-run-as in the hosts file "
                    + "(the user that Trino runs as, or root if that is meant).");
        }
        Optional<String> version = facts.text("trino.version");
        if (version.isEmpty()) {
            add(Kind.TRINO, "trino-home %s has no lib/trino-spi-*.jar, so it is no Trino server: correct it in the hosts file.", home);
        }
        else if (!isSupported(version.get(), Optional.of(trinoVersion))) {
            add(Kind.TRINO, "Trino there is %s, and this plugin is made for %s: install Trino %s, or the cachedhive that belongs to %s.", version.get(), trinoVersion,
                    trinoVersion, version.get());
        }
        if (!facts.is("trino.etc")) {
            add(Kind.TRINO, "trino-etc %s does not exist there: name the directory with Trino's config.properties in the hosts file.", host.trinoEtc());
        }
        facts.text("trino.unsafe").ifPresent(problem -> add(Kind.PERMISSION, "%s", problem));
        if (!facts.is("plugins.exists") || !facts.is("plugins.writable")) {
            add(Kind.PERMISSION, "plugin-directory %s %s: correct it in the hosts file, or log in as a user who may write there.",
                    host.pluginDirectory(), facts.is("plugins.exists") ? "cannot be written by " + facts.text("user").orElse("this login") : "does not exist");
        }
    }

    /// What an installation takes beside the files of the release.
    static long neededBytes(long packageBytes)
    {
        // the package, what is in it (it shrinks to about nine tenths), and the data
        return packageBytes * 3 + DATA_BYTES;
    }

    private void add(Kind kind, String format, Object... values)
    {
        faults.add(new Fault(host.name(), kind, String.format(Locale.ROOT, "%s: " + format, prepend(host.name(), values))));
    }

    private static Object[] prepend(Object first, Object[] rest)
    {
        Object[] all = new Object[rest.length + 1];
        all[0] = first;
        System.arraycopy(rest, 0, all, 1, rest.length);
        return all;
    }
}
