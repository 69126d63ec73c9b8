package io.cachedhive.tests.containers;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.testing.cluster.home.Distribution;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * The release after the one that was built: made of the sources of this project with the few changes below, which are compiled, and put in the place of the
 * classes in a copy of the bundle. Nothing in the released code knows of it ({@code docs/decisions/0045-raise-formats-on-finalize.md}).
 *
 * <ul>
 * <li>The wire protocol has version 2; version 1 is still supported.
 * <li>The shared memory has layout 2, in which everything behind the header lies 4 KiB further.
 * <li>Superblocks and checkpoints have version 2, with a field more at the end.
 * </ul>
 */
final class NextRelease
{
    static final String VERSION = "next";

    private static final List<String> MODULES = List.of("cache-protocol", "cache-store", "cache-transport", "cache-client", "cache-worker-daemon");
    private static final List<String> PACKAGES = List.of(
            "io/cachedhive/protocol/", "io/cachedhive/store/",
            "io/cachedhive/transport/", "io/cachedhive/client/", "io/cachedhive/worker/");
    // constants of these names are inlined where they are used
    private static final List<String> CHANGED_CONSTANTS = List.of("Message.MAX_VERSION", "LAYOUT_VERSION", "HEADER_PAGE_BYTES");
    private static final List<String> OTHER_MODULES = List.of("plugin-core", "plugin-trino", "plugin-cachedhive", "engine-extension");

    /**
     * @param file of a class, below {@code src/main/java} of its module
     * @param before has to be there exactly once
     */
    private record Change(String file, String before, String after) {}

    private static final List<Change> CHANGES = List.of(
            new Change("io/cachedhive/protocol/wire/Message.java", "int MAX_VERSION = 1;", "int MAX_VERSION = 2;"),
            new Change("io/cachedhive/protocol/memory/MemoryLayout.java", "int LAYOUT_VERSION = 1;", "int LAYOUT_VERSION = 2;"),
            new Change("io/cachedhive/protocol/memory/MemoryLayout.java", "int HEADER_PAGE_BYTES = UNIT_BYTES;", "int HEADER_PAGE_BYTES = 2 * UNIT_BYTES;"),
            new Change("io/cachedhive/protocol/ssd/SsdFormat.java", "new SsdFormat(1, 1)", "new SsdFormat(1, 2)"),
            new Change(
                    "io/cachedhive/store/ssd/Superblock.java",
                    "        file.write(next.update % 2 * PAGE_BYTES,",
                    "        if (version >= 2) { body.putLong(next.update ^ 0x4E45585452454C45L); }\n        file.write(next.update % 2 * PAGE_BYTES,"),
            new Change(
                    "io/cachedhive/store/ssd/Superblock.java",
                    "        reader.expectEnd();",
                    "        if (version >= 2 && reader.getLong() != (update ^ 0x4E45585452454C45L)) { throw new WireException(\"not of the next release\"); }\n"
                            + "        reader.expectEnd();"),
            new Change(
                    "io/cachedhive/store/ssd/Checkpoint.java",
                    "            file.write(0, HeaderPage.encode(MAGIC, version, body));",
                    "            if (version >= 2) { body.putLong(number ^ 0x4E45585452454C45L); }\n            file.write(0, HeaderPage.encode(MAGIC, version, body));"),
            new Change(
                    "io/cachedhive/store/ssd/Checkpoint.java",
                    "            reader.expectEnd();",
                    "            if (decoded.version() >= 2 && reader.getLong() != (header.number() ^ 0x4E45585452454C45L)) {\n"
                            + "                throw new WireException(\"not of the next release\");\n            }\n"
                            + "            reader.expectEnd();"));

    private NextRelease() {}

    /**
     * @param bundle the release that was built
     * @param directory for it, which is emptied first
     * @return {@code cachedhive-next.tar.gz} in it
     */
    static Path make(Path bundle, Path directory)
            throws IOException
    {
        Path root = Distribution.find().root();
        Path work = directory.resolve("work");
        if (Files.exists(work)) {
            deleteRecursively(work, ALLOW_INSECURE);
        }
        Path tree = Files.createDirectories(work.resolve("cachedhive-" + VERSION));
        execute("tar", "-xzf", bundle.toString(), "-C", tree.toString(), "--strip-components=1");
        Path classes = compile(root, changedSources(root, work.resolve("sources")), tree.resolve("worker/lib"), Files.createDirectories(work.resolve("classes")));
        for (String part : List.of("worker/lib", "plugin")) {
            try (Stream<Path> jars = Files.list(tree.resolve(part))) {
                for (Path jar : jars.filter(path -> path.getFileName().toString().endsWith(".jar")).toList()) {
                    replaceClasses(jar, classes);
                }
            }
        }
        try (Stream<Path> extension = Files.list(tree.resolve("engine-extension"))) {
            Path jar = extension.filter(path -> path.getFileName().toString().startsWith("engine-extension-")).findFirst().orElseThrow();
            Files.move(jar, jar.resolveSibling("engine-extension-%s.jar".formatted(VERSION)));
        }
        String versions = Files.readString(tree.resolve("VERSION"))
                .replaceAll("(?m)^version=.*", "version=" + VERSION)
                .replaceAll("(?m)^wire.protocol.newest=.*", "wire.protocol.newest=2")
                .replaceAll("(?m)^ssd.format.newest=.*", "ssd.format.newest=2")
                .replaceAll("(?m)^shared-memory.layout=.*", "shared-memory.layout=2");
        Files.writeString(tree.resolve("VERSION"), versions);
        Files.writeString(tree.resolve("worker/VERSION"), versions);
        Files.writeString(tree.resolve("SHA256SUMS"), checksums(tree));
        Path made = directory.resolve("cachedhive-%s.tar.gz".formatted(VERSION));
        execute("tar", "--use-compress-program=gzip -1", "-cf", made.toString(), "-C", work.toString(), tree.getFileName().toString());
        deleteRecursively(work, ALLOW_INSECURE);
        return made;
    }

    private static List<Path> changedSources(Path root, Path directory)
            throws IOException
    {
        Map<String, List<Change>> changes = new HashMap<>();
        CHANGES.forEach(change -> changes.computeIfAbsent(change.file(), _ -> new ArrayList<>()).add(change));
        List<Path> sources = new ArrayList<>();
        for (String module : MODULES) {
            Path from = root.resolve(module).resolve("src/main/java");
            for (Path source : javaFiles(from)) {
                List<Change> here = changes.getOrDefault(from.relativize(source).toString(), List.of());
                if (here.isEmpty()) {
                    sources.add(source);
                    continue;
                }
                String text = Files.readString(source);
                for (Change change : here) {
                    int at = text.indexOf(change.before());
                    if (at < 0 || text.indexOf(change.before(), at + 1) >= 0) {
                        throw new IllegalStateException("%s does not have exactly one `%s`: change NextRelease with it".formatted(source, change.before()));
                    }
                    text = text.replace(change.before(), change.after());
                }
                Path changed = directory.resolve(from.relativize(source));
                Files.createDirectories(changed.getParent());
                sources.add(Files.writeString(changed, text));
                changes.remove(from.relativize(source).toString());
            }
        }
        if (!changes.isEmpty()) {
            throw new IllegalStateException("there is no %s in %s: change NextRelease with it".formatted(changes.keySet(), MODULES));
        }
        for (String module : OTHER_MODULES) {
            for (Path source : javaFiles(root.resolve(module).resolve("src/main/java"))) {
                String text = Files.readString(source);
                for (String constant : CHANGED_CONSTANTS) {
                    if (text.contains(constant)) {
                        throw new IllegalStateException("%s uses %s, and is not compiled anew: add its module to NextRelease".formatted(source, constant));
                    }
                }
            }
        }
        return sources;
    }

    private static List<Path> javaFiles(Path directory)
            throws IOException
    {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.getFileName().toString().endsWith(".java")).toList();
        }
    }

    private static Path compile(Path root, List<Path> sources, Path library, Path target)
            throws IOException
    {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("this Java has no compiler: run the tests with a JDK");
        }
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(diagnostics, Locale.ROOT, null)) {
            String classPath;
            try (Stream<Path> jars = Files.list(library)) {
                classPath = Stream.concat(jars, Stream.of(compilerAnnotations())).map(Path::toString).collect(joining(":"));
            }
            List<String> options = List.of("-d", target.toString(), "-classpath", classPath, "-proc:none", "-parameters", "-nowarn", "--release", "25");
            boolean compiled = compiler.getTask(null, files, diagnostics, options, null, files.getJavaFileObjectsFromPaths(sources)).call();
            if (!compiled) {
                throw new IllegalStateException("the next release of %s does not compile: %s".formatted(
                        root,
                        diagnostics.getDiagnostics().stream()
                                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                                .map(diagnostic -> diagnostic.toString())
                                .limit(5)
                                .collect(joining("\n"))));
            }
        }
        return target;
    }

    /**
     * The annotations that only the compiler reads, such as those of guarded fields: no release contains them.
     */
    private static Path compilerAnnotations()
    {
        return Path.of(GuardedBy.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    }

    /**
     * Those of the changed modules, in a jar that has them; the others stay as they are.
     */
    private static void replaceClasses(Path jar, Path classes)
            throws IOException
    {
        try (ZipFile before = new ZipFile(jar.toFile())) {
            if (before.stream().noneMatch(entry -> PACKAGES.stream().anyMatch(entry.getName()::startsWith))) {
                return;
            }
            Path made = jar.resolveSibling(jar.getFileName() + ".new");
            try (OutputStream file = Files.newOutputStream(made);
                    ZipOutputStream after = new ZipOutputStream(file)) {
                for (ZipEntry entry : before.stream().toList()) {
                    String name = entry.getName();
                    after.putNextEntry(new ZipEntry(name));
                    if (name.endsWith(".class") && PACKAGES.stream().anyMatch(name::startsWith)) {
                        Files.copy(classes.resolve(name), after);
                    }
                    else if (name.equals("META-INF/MANIFEST.MF")) {
                        String manifest = new String(before.getInputStream(entry).readAllBytes(), UTF_8);
                        after.write(manifest.replaceAll("(?m)^Implementation-Version: .*?(\r?)$", "Implementation-Version: " + VERSION + "$1")
                                .getBytes(UTF_8));
                    }
                    else {
                        try (InputStream content = before.getInputStream(entry)) {
                            content.transferTo(after);
                        }
                    }
                    after.closeEntry();
                }
            }
            Files.move(made, jar, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String checksums(Path tree)
            throws IOException
    {
        try (Stream<Path> files = Files.walk(tree)) {
            StringBuilder sums = new StringBuilder();
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                if (!file.equals(tree.resolve("SHA256SUMS"))) {
                    sums.append("%s  %s\n".formatted(digest(file), tree.relativize(file)));
                }
            }
            return sums.toString();
        }
    }

    private static String digest(Path file)
            throws IOException
    {
        try (DigestInputStream input = new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
            input.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(input.getMessageDigest().digest());
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private static void execute(String... command)
            throws IOException
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("%s: %s".formatted(String.join(" ", command), said));
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
