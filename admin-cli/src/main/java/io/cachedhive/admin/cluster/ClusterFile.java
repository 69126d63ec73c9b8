package io.cachedhive.admin.cluster;

import io.cachedhive.admin.cluster.Cluster.SshSettings;
import io.cachedhive.admin.cluster.ClusterHost.Role;
import io.cachedhive.admin.cluster.ClusterHost.Service;
import io.cachedhive.admin.cluster.ClusterHost.SsdDirectory;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.util.Objects.requireNonNull;

/**
 * The hosts file: which hosts there are, how they are reached, and what each is to have.
 */
public final class ClusterFile
{
    /// The user that runs SQL where none is named.
    public static final String DEFAULT_TRINO_USER = "admin";

    /// What may stand at the top for all hosts, in a group, and at a single host.
    private static final Set<String> HOST_SETTINGS = Set.of(
            "ssh-user", "ssh-port", "sudo", "install-directory", "java-home", "service", "run-as", "trino-home", "trino-run-as", "trino-etc",
            "plugin-directory", "ram-size", "ram-directory", "heap-size", "ssd", "worker-port", "http-port", "http-scheme",
            "socket-path", "socket-group", "zone", "worker-properties");
    private static final Set<String> SINGLE_HOST_SETTINGS = Set.of("host", "address", "bind-address");
    private static final Set<String> CLUSTER_SETTINGS = Set.of(
            "cluster", "coordinators", "workers", "groups", "ssh", "secret-file", "configuration-directory", "tls", "trino-url", "trino-user",
            "trino-password-file", "trino-access-token-file");
    private static final Set<String> SSH_SETTINGS = Set.of("config-file", "parallel", "connect-timeout", "command-timeout");

    private static final Set<String> TLS_SETTINGS = Set.of("truststore-path", "truststore-password", "keystore-path", "keystore-password", "insecure");

    private static final Set<String> SSD_PROPERTIES = Set.of("cache.ssd.directories", "cache.ssd.max-sizes", "cache.ssd.max-disk-usage-percentages");

    private static final Pattern RANGE = Pattern.compile("([^\\[\\]]*)\\[([0-9]{1,6})-([0-9]{1,6})]([^\\[\\]]*)");
    // also keeps a host from being taken for an option of ssh
    private static final Pattern HOST_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:-]*");
    // what a unit of systemd, a shell or the record of an installation would take for something else
    private static final Pattern SPECIAL_IN_PATH = Pattern.compile("[\\s\\p{Cntrl}%\"'`\\\\$&|;<>*?\\[\\]{}()!#~]");
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,6})(s|m)");
    private static final int MAX_HOSTS = 10_000;

    private final Path file;
    /// Where each host stands.
    private final Map<String, Node> named = new HashMap<>();
    /// The `trino-home` that holds for each host.
    private final Map<String, Node> trinoHomes = new HashMap<>();

    private ClusterFile(Path file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    /// @throws ClusterFileException if the file is missing or wrong
    public static Cluster read(Path file)
            throws ClusterFileException
    {
        String text;
        try {
            text = Files.readString(file);
        }
        catch (IOException e) {
            throw new ClusterFileException("The hosts file %s cannot be read (%s): name one that you may read with --config or CACHE_ADMIN_CONFIG."
                    .formatted(file, e.getClass().getSimpleName()));
        }
        return parse(text, file);
    }

    /// Writes the commented example, for its owner's eyes only.
    public static void writeTemplate(Path file)
            throws IOException
    {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, template());
    }

    /// Checks the text of a hosts file that is not written yet.
    ///
    /// @throws ClusterFileException if it is wrong
    public static void check(String text, Path file)
            throws ClusterFileException
    {
        parse(text, file);
    }

    static Cluster parse(String text, Path file)
            throws ClusterFileException
    {
        return new ClusterFile(file).parse(text);
    }

    /// A hosts file in which some hosts have another Trino home.
    public record Changed(Cluster cluster, String text)
    {
        public Changed
        {
            requireNonNull(cluster, "cluster is null");
            requireNonNull(text, "text is null");
        }

        /// Replaces the file by a whole one, with the same mode.
        ///
        /// @throws ClusterFileException if it cannot be written
        public void write()
                throws ClusterFileException
        {
            try {
                // not a link to it, which would become a file
                Path file = cluster.file().toRealPath();
                Path part = Files.createTempFile(file.getParent(), ".cache-admin", ".yaml");
                try {
                    Files.writeString(part, text);
                    Files.setPosixFilePermissions(part, Files.getPosixFilePermissions(file));
                    Files.move(part, file, ATOMIC_MOVE);
                }
                finally {
                    Files.deleteIfExists(part);
                }
            }
            catch (IOException e) {
                throw new ClusterFileException("The hosts file %s cannot be written (%s): write the new trino-home into it, which the hosts already have."
                        .formatted(cluster.file(), e.getClass().getSimpleName()));
            }
        }
    }

    /// Replaces the value of `trino-home` for some hosts, wherever it is written for them, and leaves every other character as it is.
    ///
    /// @param hosts each has a Trino home
    /// @throws ClusterFileException if the path cannot be used, or other hosts have theirs by the same line
    public static Changed withTrinoHome(Path file, Set<String> hosts, String trinoHome)
            throws ClusterFileException
    {
        String path;
        try {
            path = remotePath(trinoHome);
        }
        catch (IllegalArgumentException e) {
            throw new ClusterFileException("--trino-home: %s.".formatted(e.getMessage()));
        }
        String text;
        try {
            text = Files.readString(file);
        }
        catch (IOException e) {
            throw new ClusterFileException("The hosts file %s cannot be read (%s): run the command again.".formatted(file, e.getClass().getSimpleName()));
        }
        return withTrinoHome(text, file, hosts, path);
    }

    static Changed withTrinoHome(String text, Path file, Set<String> hosts, String trinoHome)
            throws ClusterFileException
    {
        ClusterFile before = new ClusterFile(file);
        before.parse(text);
        // from the end of the file, so that the places before stay right
        Map<Integer, Node> places = new TreeMap<>(Comparator.reverseOrder());
        for (String host : hosts) {
            Node node = before.trinoHomes.get(host);
            for (Map.Entry<String, Node> other : before.trinoHomes.entrySet()) {
                if (other.getValue() == node && !hosts.contains(other.getKey())) {
                    throw YamlSection.problem(file, node, "this trino-home is also the one of %s: select all its hosts, or write a trino-home for %s alone"
                            .formatted(other.getKey(), host));
                }
            }
            places.put(node.getStartMark().getIndex(), node);
        }
        String changed = text;
        for (Node node : places.values()) {
            // marks count code points
            changed = changed.substring(0, changed.offsetByCodePoints(0, node.getStartMark().getIndex()))
                    + trinoHome
                    + changed.substring(changed.offsetByCodePoints(0, node.getEndMark().getIndex()));
        }
        Cluster cluster = parse(changed, file);
        for (ClusterHost host : cluster.hosts()) {
            if (hosts.contains(host.name()) && !host.trinoHome().equals(Optional.of(trinoHome))) {
                throw YamlSection.problem(
                        file,
                        before.trinoHomes.get(host.name()),
                        "this trino-home cannot be replaced: write %s there, and run cache-admin install".formatted(trinoHome));
            }
        }
        return new Changed(cluster, changed);
    }

    private Cluster parse(String text)
            throws ClusterFileException
    {
        Node root;
        try {
            LoaderOptions options = new LoaderOptions();
            options.setAllowRecursiveKeys(false);
            root = new Yaml(options).compose(new StringReader(text));
        }
        catch (MarkedYAMLException e) {
            throw new ClusterFileException("%s line %s: this is not YAML (%s): compare it with the example that cache-admin writes where there is no hosts file."
                    .formatted(file, e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1, e.getProblem()));
        }
        if (root == null) {
            throw new ClusterFileException("%s line 1: the file has no settings: name the hosts under `workers:`.".formatted(file));
        }
        Set<String> topLevel = new LinkedHashSet<>(HOST_SETTINGS);
        topLevel.addAll(CLUSTER_SETTINGS);
        YamlSection top = YamlSection.of(root, file, topLevel);

        Map<String, YamlSection> groups = new LinkedHashMap<>();
        Map<String, Set<String>> members = new LinkedHashMap<>();
        if (top.has("groups")) {
            Set<String> allowed = new LinkedHashSet<>(HOST_SETTINGS);
            allowed.add("hosts");
            for (Map.Entry<String, Node> group : YamlSection.of(top.node("groups").orElseThrow(), file, Set.of()).entries().entrySet()) {
                YamlSection section = YamlSection.of(group.getValue(), file, allowed);
                groups.put(group.getKey(), section);
                Set<String> names = new LinkedHashSet<>();
                for (Node node : section.list("hosts")) {
                    names.addAll(expand(node));
                }
                members.put(group.getKey(), names);
            }
        }

        Map<String, Set<Role>> roles = new LinkedHashMap<>();
        Map<String, YamlSection> own = new LinkedHashMap<>();
        readHosts(top, "coordinators", Role.COORDINATOR, roles, own);
        readHosts(top, "workers", Role.WORKER, roles, own);
        if (roles.isEmpty()) {
            throw new ClusterFileException("%s line 1: no host is named: name those with a cache worker under `workers:`, the others of Trino under `coordinators:`."
                    .formatted(file));
        }
        for (Map.Entry<String, Set<String>> group : members.entrySet()) {
            for (String name : group.getValue()) {
                if (!roles.containsKey(name)) {
                    throw groups.get(group.getKey()).problem("hosts", "group %s has the host %s, which is named neither under coordinators nor under workers: add it there"
                            .formatted(group.getKey(), name));
                }
            }
        }

        List<ClusterHost> hosts = new ArrayList<>();
        for (Map.Entry<String, Set<Role>> entry : roles.entrySet()) {
            YamlSection settings = top;
            Set<String> memberOf = new LinkedHashSet<>();
            for (Map.Entry<String, Set<String>> group : members.entrySet()) {
                if (group.getValue().contains(entry.getKey())) {
                    memberOf.add(group.getKey());
                    settings = groups.get(group.getKey()).over(settings);
                }
            }
            if (own.containsKey(entry.getKey())) {
                settings = own.get(entry.getKey()).over(settings);
            }
            ClusterHost host = host(entry.getKey(), entry.getValue(), memberOf, settings);
            if (host.isWorker() && !host.http().hasAddress()) {
                String what = "%s cannot stand in a URL, and by one its cache worker is asked".formatted(host.http().name());
                throw settings.has("address") ?
                        settings.problem("address", what + ": write another name, or the IP address") :
                        YamlSection.problem(file, named.get(host.name()), what + ": write the entry as `host: %s` with an `address`, a host name or IP address".formatted(host));
            }
            hosts.add(host);
        }

        YamlSection ssh = section(top, "ssh", SSH_SETTINGS);
        YamlSection tls = section(top, "tls", TLS_SETTINGS);
        return new Cluster(
                file,
                top.text("cluster").orElse("production"),
                hosts,
                new SshSettings(
                        ssh.value("config-file", this::localPath),
                        ssh.value("parallel", value -> number(value, 1, 1000)).orElse(16),
                        ssh.value("connect-timeout", ClusterFile::duration).orElse(Duration.ofSeconds(10)),
                        ssh.value("command-timeout", ClusterFile::duration).orElse(Duration.ofMinutes(15))),
                top.value("secret-file", this::localPath),
                top.value("configuration-directory", this::localPath).orElseGet(() -> file.toAbsolutePath().resolveSibling("cache-admin.d")),
                new TlsSettings(
                        tls.value("truststore-path", this::localPath),
                        tls.text("truststore-password"),
                        tls.value("keystore-path", this::localPath),
                        tls.text("keystore-password"),
                        tls.value("insecure", ClusterFile::flag).orElse(false)),
                top.text("trino-url"),
                top.text("trino-user").orElse(DEFAULT_TRINO_USER),
                top.value("trino-password-file", this::localPath),
                top.value("trino-access-token-file", this::localPath));
    }

    private YamlSection section(YamlSection top, String name, Set<String> allowed)
            throws ClusterFileException
    {
        return YamlSection.of(top.has(name) ? top.node(name).orElseThrow() : new Yaml().represent(Map.of()), file, allowed);
    }

    private void readHosts(YamlSection top, String key, Role role, Map<String, Set<Role>> roles, Map<String, YamlSection> own)
            throws ClusterFileException
    {
        Set<String> allowed = new LinkedHashSet<>(HOST_SETTINGS);
        allowed.addAll(SINGLE_HOST_SETTINGS);
        for (Node node : top.list(key)) {
            List<String> names;
            if (node instanceof ScalarNode) {
                names = expand(node);
            }
            else {
                YamlSection section = YamlSection.of(node, file, allowed);
                if (!section.has("host")) {
                    throw YamlSection.problem(file, node, "this entry of %s has no name: write `host: NAME` into it".formatted(key));
                }
                names = expand(section.node("host").orElseThrow());
                if (names.size() > 1 && (section.has("address") || section.has("bind-address"))) {
                    throw section.problem("host", "several hosts cannot have one address: name them one by one");
                }
                for (String name : names) {
                    if (own.put(name, section) != null) {
                        throw section.problem("host", "%s has settings of its own twice: put them together".formatted(name));
                    }
                }
            }
            for (String name : names) {
                named.put(name, node);
                if (!roles.computeIfAbsent(name, _ -> EnumSet.noneOf(Role.class)).add(role)) {
                    throw YamlSection.problem(file, node, "%s is named twice under %s: remove one of them".formatted(name, key));
                }
                if (roles.size() > MAX_HOSTS) {
                    throw YamlSection.problem(file, node, "more than %s hosts: split the file".formatted(MAX_HOSTS));
                }
            }
        }
    }

    private List<String> expand(Node node)
            throws ClusterFileException
    {
        String text = YamlSection.scalar(file, node).strip();
        Matcher matcher = RANGE.matcher(text);
        List<String> names = new ArrayList<>();
        if (matcher.matches()) {
            int first = Integer.parseInt(matcher.group(2));
            int last = Integer.parseInt(matcher.group(3));
            if (first > last || last - first >= MAX_HOSTS) {
                throw YamlSection.problem(file, node, "%s is no range of hosts: write it as worker[1-20]".formatted(text));
            }
            for (int number = first; number <= last; number++) {
                // [01-20] keeps its zeros
                names.add(matcher.group(1) + String.format(Locale.ROOT, "%0" + matcher.group(2).length() + "d", number) + matcher.group(4));
            }
        }
        else {
            names.add(text);
        }
        for (String name : names) {
            if (!HOST_NAME.matcher(name).matches()) {
                throw YamlSection.problem(file, node, "%s is not the name of a host: write a host name, an IP address, or a range such as worker[1-20]".formatted(name));
            }
        }
        return names;
    }

    private ClusterHost host(String name, Set<Role> roles, Set<String> groups, YamlSection settings)
            throws ClusterFileException
    {
        Optional<String> trinoHome = settings.value("trino-home", ClusterFile::remotePath);
        settings.node("trino-home").ifPresent(node -> trinoHomes.put(name, node));
        List<SsdDirectory> ssd = new ArrayList<>();
        for (Node node : settings.list("ssd")) {
            YamlSection directory = YamlSection.of(node, file, Set.of("directory", "size", "percentage"));
            Optional<String> path = directory.value("directory", ClusterFile::remotePath);
            Optional<Size> size = directory.value("size", Size::parse);
            Optional<Integer> percentage = directory.value("percentage", value -> number(value, 1, 100));
            if (path.isEmpty() || size.isPresent() == percentage.isPresent()) {
                throw YamlSection.problem(file, node, "an entry of ssd needs both: `directory: /mnt/nvme0/cachedhive`, and `size: 400GB` or `percentage: 80` (of its disk)");
            }
            ssd.add(new SsdDirectory(path.get(), size, percentage.map(OptionalInt::of).orElse(OptionalInt.empty())));
            if (size.isPresent() != ssd.getFirst().size().isPresent()) {
                throw YamlSection.problem(file, node, "the entries of ssd have sizes and percentages: give all of a host sizes, or all percentages");
            }
        }
        Map<String, String> properties = new LinkedHashMap<>();
        if (settings.has("worker-properties")) {
            YamlSection section = YamlSection.of(settings.node("worker-properties").orElseThrow(), file, Set.of());
            for (String key : section.entries().keySet()) {
                if (SSD_PROPERTIES.contains(key)) {
                    throw section.problem(key, ("worker-properties has %s, and what checks, repairs or removes directories knows those of `ssd` only: write each as an entry "
                            + "of ssd, with its `directory`, and `size` or `percentage`").formatted(key));
                }
                properties.put(key, section.text(key).orElseThrow());
            }
        }
        String runAs = settings.text("run-as").orElse(ClusterHost.OWN_USER);
        return new ClusterHost(
                name,
                roles,
                groups,
                settings.text("address"),
                settings.text("bind-address"),
                settings.text("ssh-user"),
                settings.value("ssh-port", ClusterFile::port).map(OptionalInt::of).orElse(OptionalInt.empty()),
                settings.value("sudo", ClusterFile::flag).orElse(false),
                settings.value("install-directory", ClusterFile::remotePath).orElse("/opt/cachedhive"),
                settings.value("java-home", ClusterFile::remotePath),
                settings.value("service", ClusterFile::service).orElse(Service.AUTO),
                runAs,
                trinoHome,
                settings.text("trino-run-as"),
                settings.value("trino-etc", ClusterFile::remotePath).orElse(trinoHome.orElse("/usr/lib/trino") + "/etc"),
                settings.value("plugin-directory", ClusterFile::remotePath).orElse(trinoHome.orElse("/usr/lib/trino") + "/plugin"),
                settings.value("ram-size", Size::parse).orElse(Size.parse("1GB")),
                settings.value("ram-directory", ClusterFile::remotePath).orElse("/dev/shm/cachedhive"),
                settings.value("heap-size", Size::parse).orElse(Size.parse("1GB")),
                ssd,
                settings.value("worker-port", ClusterFile::port).orElse(8484),
                settings.value("http-port", ClusterFile::port).orElse(8485),
                settings.value("http-scheme", ClusterFile::isHttps).orElse(false),
                settings.value("socket-path", ClusterFile::remotePath).orElse("/run/cachedhive/worker.sock"),
                settings.text("socket-group").or(() -> runAs.equals(ClusterHost.OWN_USER) ? Optional.of(ClusterHost.OWN_SOCKET_GROUP) : Optional.empty()),
                settings.text("zone"),
                properties);
    }

    private static int port(String text)
    {
        return number(text, 1, 65535);
    }

    private static int number(String text, int min, int max)
    {
        try {
            int number = Integer.parseInt(text);
            if (number >= min && number <= max) {
                return number;
            }
        }
        catch (NumberFormatException _) {
            // said below
        }
        throw new IllegalArgumentException("%s is not a number from %s to %s".formatted(text, min, max));
    }

    private static boolean flag(String text)
    {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("%s is neither true nor false".formatted(text));
        };
    }

    private static boolean isHttps(String text)
    {
        return switch (text) {
            case "http" -> false;
            case "https" -> true;
            default -> throw new IllegalArgumentException("%s is neither http nor https".formatted(text));
        };
    }

    private static Service service(String text)
    {
        try {
            return Service.valueOf(text.toUpperCase(Locale.ROOT));
        }
        catch (IllegalArgumentException _) {
            throw new IllegalArgumentException("%s is none of auto, systemd, launcher".formatted(text));
        }
    }

    private static Duration duration(String text)
    {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) == 0) {
            throw new IllegalArgumentException("%s is not a duration such as 10s or 5m".formatted(text));
        }
        int amount = Integer.parseInt(matcher.group(1));
        return matcher.group(2).equals("s") ? Duration.ofSeconds(amount) : Duration.ofMinutes(amount);
    }

    private static String remotePath(String text)
    {
        String path = text.length() > 1 && text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        if (!path.startsWith("/") || path.contains("\n") || path.contains(",")) {
            throw new IllegalArgumentException("%s is not an absolute path without commas".formatted(text));
        }
        Matcher special = SPECIAL_IN_PATH.matcher(path);
        if (special.find()) {
            throw new IllegalArgumentException("%s has %s in it, which not everything takes for a part of a path: give the directory another name, or make a link to it"
                    .formatted(path, special.group().isBlank() ? "white space" : special.group()));
        }
        if (List.of(path.split("/")).stream().anyMatch(segment -> segment.equals(".") || segment.equals(".."))) {
            throw new IllegalArgumentException("%s is not written out, as . or .. is in it".formatted(text));
        }
        if (path.equals("/")) {
            throw new IllegalArgumentException("the root directory cannot be used");
        }
        return path;
    }

    /// On this machine: `~` is the home directory, and relative is to the hosts file.
    private Path localPath(String text)
    {
        if (text.equals("~") || text.startsWith("~/")) {
            return Path.of(System.getProperty("user.home") + text.substring(1));
        }
        return file.toAbsolutePath().resolveSibling(text).normalize();
    }

    /// The commented example.
    public static String template()
            throws IOException
    {
        try (InputStream template = requireNonNull(ClusterFile.class.getResourceAsStream("cache-admin.yaml"), "template is missing")) {
            return new String(template.readAllBytes(), UTF_8);
        }
    }
}
