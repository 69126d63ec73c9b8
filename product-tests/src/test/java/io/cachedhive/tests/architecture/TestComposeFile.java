package io.cachedhive.tests.architecture;

import io.cachedhive.testing.DocumentedCode;
import org.testng.annotations.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the Compose file without a container engine: its fields, what it names, and whether it fits the configuration beside it. No container is started.
 */
@Test(groups = "fast")
public class TestComposeFile
{
    // of the Compose specification
    private static final Set<String> FIELDS = Set.of("name", "services", "networks", "volumes", "x-cache-worker", "x-trino");
    private static final Set<String> SERVICE_FIELDS = Set.of(
            "image", "build", "user", "read_only", "cap_drop", "security_opt", "mem_limit", "environment", "stop_grace_period", "depends_on", "volumes", "networks",
            "network_mode", "entrypoint", "command", "hostname", "ports", "tmpfs");
    private static final Set<String> CONDITIONS = Set.of("service_started", "service_completed_successfully");
    private static final Pattern SIZE = Pattern.compile("(\\d+)([kmgKMG])[bB]?");

    private static Path directory()
    {
        return DocumentedCode.root().resolve("etc/compose");
    }

    public void testFile()
            throws IOException
    {
        assertThat(problems(Files.readString(directory().resolve("compose.yaml")))).isEmpty();
    }

    public void testDefectsAreFound()
            throws IOException
    {
        String text = Files.readString(directory().resolve("compose.yaml"));
        Map<String, String> defects = Map.ofEntries(
                Map.entry("cap_drop: [ALL]", "cap_dorp: [ALL]"),
                Map.entry("trinodb/trino:483", "trinodb/trino:484"),
                Map.entry("andrewgaul/s3proxy:4.1.0", "andrewgaul/s3proxy"),
                Map.entry("./trino/jvm.config:", "./trino/jmv.config:"),
                Map.entry("memory-2:/memory:ro", "memory-3:/memory:ro"),
                Map.entry("network_mode: service:cache-worker-2", "network_mode: service:cache-worker-3"),
                Map.entry("bucket:\n        condition", "buckets:\n        condition"),
                Map.entry("etc/kubernetes/Dockerfile", "etc/kubernetes/dockerfile"),
                Map.entry("127.0.0.1:8080:8080", "8080:8080"),
                Map.entry("mem_limit: 1792m", "mem_limit: 1024m"),
                Map.entry("o: size=576m", "o: size=256m"),
                Map.entry("memory-1:/memory\n", "memory-1:/ram\n"),
                Map.entry("-Dnode.bind-ip=10.84.84.12", "-Dnode.bind-ip=10.84.84.11"),
                Map.entry("ipv4_address: 10.84.84.12", "ipv4_address: 10.84.85.12"),
                Map.entry("S3PROXY_ENDPOINT: http://0.0.0.0:9000", "S3PROXY_ENDPOINT: http://0.0.0.0:80"),
                Map.entry("S3PROXY_CREDENTIAL: quickstart-secret", "S3PROXY_CREDENTIAL: other"),
                Map.entry("\"/data/lake\"", "\"/data/sea\""));
        defects.forEach((right, wrong) -> {
            assertThat(text).contains(right);
            assertThat(problems(text.replace(right, wrong))).as(wrong).isNotEmpty();
        });
    }

    public void testConfiguration()
            throws IOException
    {
        String page = Files.readString(DocumentedCode.root().resolve("docs/configuration.md"));
        assertThat(properties("cache-worker/config.properties").stringPropertyNames()).isNotEmpty().allSatisfy(name -> assertThat(page).contains("| `%s` |".formatted(name)));
        Properties catalog = properties("trino/catalog/lake.properties");
        assertThat(catalog.stringPropertyNames()).filteredOn(name -> name.startsWith("cachedhive.")).isNotEmpty()
                .allSatisfy(name -> assertThat(page).contains("| `%s` |".formatted(name)));
        Properties worker = properties("cache-worker/config.properties");
        assertThat(catalog.getProperty("cachedhive.worker.socket-path")).isEqualTo(worker.getProperty("cache.worker.socket-path"));
        assertThat(catalog.getProperty("cachedhive.shared-secret")).isEqualTo(worker.getProperty("internal-communication.shared-secret"));
        Properties origin = properties("cache-worker/origins/default.properties");
        assertThat(origin).isNotEmpty().allSatisfy((name, value) -> assertThat(catalog).containsEntry(name, value));
    }

    private static List<String> problems(String text)
    {
        List<String> problems = new ArrayList<>();
        Map<String, Object> file = new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
        unknown(file.keySet(), FIELDS).forEach(field -> problems.add("unknown field " + field));
        Map<String, Object> services = map(file.get("services"));
        Map<String, Object> volumes = map(file.get("volumes"));
        services.forEach((name, service) -> checkService(name, map(service), services, volumes, problems));
        for (int number = 1; number <= 2; number++) {
            checkHost(number, services, volumes, problems);
        }
        checkStore(map(services.get("s3")), list(map(services.get("bucket")).get("entrypoint")), problems);
        Map<String, Object> ipam = map(map(map(file.get("networks")).get("lake")).get("ipam"));
        check(map(list(ipam.get("config")).getFirst()).get("subnet").equals("10.84.84.0/24"), "the addresses are not in the subnet", problems);
        return problems;
    }

    private static void checkService(String name, Map<String, Object> service, Map<String, Object> services, Map<String, Object> volumes, List<String> problems)
    {
        unknown(service.keySet(), SERVICE_FIELDS).forEach(field -> problems.add("%s: unknown field %s".formatted(name, field)));
        String pom = read(DocumentedCode.root().resolve("pom.xml"));
        Set<String> images = Set.of(
                "trinodb/trino:" + version(pom, "dep.trino.version"),
                "andrewgaul/s3proxy:" + version(pom, "dep.s3proxy.version"),
                "cachedhive:1-SNAPSHOT");
        check(images.contains(service.get("image")), "%s: image %s".formatted(name, service.get("image")), problems);
        map(service.get("depends_on")).forEach((other, dependency) -> {
            check(services.containsKey(other), "%s: there is no service %s".formatted(name, other), problems);
            check(CONDITIONS.contains(map(dependency).get("condition")), "%s: condition of %s".formatted(name, other), problems);
        });
        if (service.get("network_mode") instanceof String mode && mode.startsWith("service:")) {
            check(services.containsKey(mode.substring("service:".length())), "%s: %s".formatted(name, mode), problems);
        }
        for (Object volume : list(service.get("volumes"))) {
            String source = volume.toString().split(":")[0];
            boolean exists = source.startsWith(".") ? Files.exists(directory().resolve(source)) : volumes.containsKey(source);
            check(exists, "%s: there is no %s".formatted(name, source), problems);
        }
        for (Object port : list(service.get("ports"))) {
            check(port.toString().startsWith("127.0.0.1:"), "%s: port %s is open to other hosts".formatted(name, port), problems);
        }
        Map<String, Object> build = map(service.get("build"));
        if (!build.isEmpty()) {
            // target/ exists after the package was built
            Path context = directory().resolve(build.get("context").toString()).normalize();
            check(context.equals(DocumentedCode.root().resolve("packages/target")), "%s: context %s".formatted(name, context), problems);
            Path dockerfile = context.resolve(build.get("dockerfile").toString()).normalize();
            check(Files.exists(dockerfile), "%s: there is no %s".formatted(name, dockerfile), problems);
            if (Files.exists(dockerfile)) {
                map(build.get("args")).forEach((argument, _) -> check(read(dockerfile).contains("ARG " + argument), "%s: argument %s".formatted(name, argument), problems));
            }
        }
    }

    /**
     * A Trino worker and the cache worker of its host.
     */
    private static void checkHost(int number, Map<String, Object> services, Map<String, Object> volumes, List<String> problems)
    {
        String name = "cache-worker-" + number;
        Map<String, Object> worker = map(services.get(name));
        Map<String, Object> trino = map(services.get("trino-worker-" + number));
        check(("service:" + name).equals(trino.get("network_mode")), "trino-worker-%s has another network".formatted(number), problems);
        check(list(trino.get("volumes")).contains("memory-%s:/memory:ro".formatted(number)), "trino-worker-%s has no shared memory".formatted(number), problems);
        List<Object> mounts = list(worker.get("volumes"));
        check(mounts.contains("memory-%s:/memory".formatted(number)), name + " has no shared memory", problems);
        check(mounts.contains("cache-%s:/var/lib/cachedhive".formatted(number)), name + " has no disk", problems);
        check(mounts.contains("./cache-worker:/etc/cachedhive:ro"), name + " has no configuration", problems);
        String address = String.valueOf(map(map(worker.get("networks")).get("lake")).get("ipv4_address"));
        check(address.startsWith("10.84.84."), name + ": address " + address, problems);
        check(list(worker.get("command")).contains("-Dnode.bind-ip=" + address), name + " listens elsewhere", problems);
        check(list(worker.get("command")).contains("-Dnode.internal-address=" + address), name + " has another address", problems);

        Properties configuration = properties("cache-worker/config.properties");
        long ram = size(configuration.getProperty("cache.ram.max-size"));
        String jvm = read(directory().resolve("cache-worker/jvm.config"));
        // and what the JVM needs for classes, code and threads
        long needed = ram + size(option(jvm, "-Xmx")) + size(option(jvm, "-XX:MaxDirectMemorySize=")) + (512L << 20);
        check(size(worker.get("mem_limit").toString()) >= needed, name + ": the memory limit is too low", problems);
        String options = map(map(volumes.get("memory-" + number)).get("driver_opts")).get("o").toString();
        check(size(options.replaceAll("size=(\\w+),.*", "$1")) > ram, name + ": the shared memory is too small", problems);
        check(options.contains("uid=%s,gid=%s,".formatted((Object[]) worker.get("user").toString().split(":"))), name + ": owner of the shared memory", problems);
        check(configuration.getProperty("cache.ram.directory").startsWith("/memory/"), "the RAM tier is not in the shared memory", problems);
        check(configuration.getProperty("cache.ssd.directories").startsWith("/var/lib/cachedhive/"), "the SSD tier is not in a volume", problems);
    }

    private static void checkStore(Map<String, Object> s3, List<Object> bucket, List<String> problems)
    {
        Properties catalog = properties("trino/catalog/lake.properties");
        Map<String, Object> environment = map(s3.get("environment"));
        check(environment.get("S3PROXY_ENDPOINT").toString().replace("0.0.0.0", "s3").equals(catalog.getProperty("s3.endpoint")), "the S3 server listens elsewhere", problems);
        check(environment.get("S3PROXY_IDENTITY").equals(catalog.getProperty("s3.aws-access-key")), "the access key differs", problems);
        check(environment.get("S3PROXY_CREDENTIAL").equals(catalog.getProperty("s3.aws-secret-key")), "the secret key differs", problems);
        String location = catalog.getProperty("hive.metastore.catalog.dir");
        String directory = "%s/%s".formatted(environment.get("JCLOUDS_FILESYSTEM_BASEDIR"), location.replaceAll("s3://([^/]+)/.*", "$1"));
        check(bucket.contains(directory), "there is no bucket for " + location, problems);
    }

    private static void check(boolean right, String problem, List<String> problems)
    {
        if (!right) {
            problems.add(problem);
        }
    }

    private static List<String> unknown(Collection<String> fields, Set<String> known)
    {
        return fields.stream().filter(field -> !known.contains(field)).toList();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value)
    {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value)
    {
        return value == null ? List.of() : (List<Object>) value;
    }

    private static String version(String pom, String property)
    {
        return pom.replaceAll("(?s).*<%1$s>(.*?)</%1$s>.*".formatted(Pattern.quote(property)), "$1");
    }

    private static String option(String jvm, String prefix)
    {
        return jvm.lines().filter(line -> line.startsWith(prefix)).findFirst().orElseThrow().substring(prefix.length());
    }

    private static long size(String text)
    {
        Matcher matcher = SIZE.matcher(text);
        assertThat(matcher.matches()).as(text).isTrue();
        int shift = switch (matcher.group(2).toLowerCase(Locale.ENGLISH)) {
            case "k" -> 10;
            case "m" -> 20;
            default -> 30;
        };
        return Long.parseLong(matcher.group(1)) << shift;
    }

    private static Properties properties(String file)
    {
        Properties properties = new Properties();
        try {
            properties.load(new StringReader(read(directory().resolve(file))));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties;
    }

    private static String read(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
