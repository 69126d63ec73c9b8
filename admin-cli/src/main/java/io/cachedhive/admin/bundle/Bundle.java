package io.cachedhive.admin.bundle;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.PropertiesText;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A release as one file: the package that {@code install} and {@code upgrade} bring to the hosts.
 *
 * @param top the one folder that it has
 * @param digest SHA-256 of the file, hexadecimal
 * @param parts folders in it, such as {@code worker} and {@code plugin}
 */
public record Bundle(Path file, String top, String version, String digest, Map<String, String> facts, Set<String> parts, long bytes)
{
    /// Names it on hosts: two builds of one version are two releases.
    public String release()
    {
        return version + "-" + digest.substring(0, 12);
    }

    /// Of the name of a release.
    public static String version(String release)
    {
        return release.substring(0, release.lastIndexOf('-'));
    }

    /// The Trino version that its plugin is for, if the package names it.
    public Optional<String> trinoVersion()
    {
        return Optional.ofNullable(facts.get("trino.version"));
    }

    /// @throws ClusterFileException if it is not a package of cachedhive
    public static Bundle open(Path file)
            throws ClusterFileException
    {
        if (!Files.isRegularFile(file)) {
            throw new ClusterFileException("The package %s does not exist: name a cachedhive-VERSION.tar.gz with --package.".formatted(file));
        }
        String name = file.getFileName().toString();
        if (!name.startsWith("cachedhive-") || !name.endsWith(".tar.gz")) {
            throw new ClusterFileException("%s is not called cachedhive-VERSION.tar.gz, as packages of cachedhive are: name one with --package.".formatted(file));
        }
        String top = name.substring(0, name.length() - ".tar.gz".length());
        Map<String, String> facts = PropertiesText.read(extract(file, top + "/VERSION")
                .orElseThrow(() -> new ClusterFileException("%s is damaged or is no package of cachedhive (it has no %s/VERSION): get it again.".formatted(file, top))));
        String sums = extract(file, top + "/SHA256SUMS")
                .orElseThrow(() -> new ClusterFileException("%s is damaged or is no package of cachedhive (it has no %s/SHA256SUMS): get it again.".formatted(file, top)));
        Set<String> parts = sums.lines()
                .map(line -> line.replaceFirst("^[0-9a-f]+ [ *](\\./)?", ""))
                .filter(path -> path.contains("/"))
                .map(path -> path.substring(0, path.indexOf('/')))
                .collect(Collectors.toCollection(TreeSet::new));
        String version = facts.get("version");
        if (version == null || !version.matches("[A-Za-z0-9._+-]+") || !parts.contains("worker")) {
            throw new ClusterFileException("%s is not a whole package of cachedhive (its VERSION or its folder worker/ is missing): get it again.".formatted(file));
        }
        try {
            return new Bundle(file, top, version, digest(file), facts, parts, Files.size(file));
        }
        catch (IOException e) {
            throw new ClusterFileException("The package %s cannot be read (%s): let its owner run this, or copy it.".formatted(file, e));
        }
    }

    private static Optional<String> extract(Path file, String member)
            throws ClusterFileException
    {
        try {
            Process process = new ProcessBuilder(List.of("tar", "-xzOf", file.toString(), member))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String content = new String(process.getInputStream().readAllBytes(), UTF_8);
            return process.waitFor() == 0 ? Optional.of(content) : Optional.empty();
        }
        catch (IOException e) {
            throw new ClusterFileException("tar cannot be started on this machine (%s): install it.".formatted(e.getMessage()));
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new ClusterFileException("Interrupted while %s was read: run the command again.".formatted(file));
        }
    }

    private static String digest(Path file)
            throws IOException
    {
        try (DigestInputStream in = new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
            in.transferTo(OutputStream.nullOutputStream());
            return HexFormat.of().formatHex(in.getMessageDigest().digest());
        }
        catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
