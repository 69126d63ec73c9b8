package io.cachedhive.packages;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Collections.unmodifiableSortedMap;
import static java.util.Objects.requireNonNull;

/**
 * A package of an operating system, before it is a .deb or .rpm.
 *
 * @param name which also names the directory of its maintainer scripts among the resources
 * @param version of the release, such as {@code 1} or {@code 2-SNAPSHOT}
 * @param summary one line, neither a sentence nor with a dot at its end
 * @param description paragraphs
 * @param debianDependencies each such as {@code passwd}
 * @param debianRecommendations likewise
 * @param debianExceptions the tags of lintian(1) that do not apply, and why not
 * @param rpmDependencies names of packages
 * @param tree everything that it installs
 */
record SystemPackage(
        String name,
        String version,
        String summary,
        List<String> description,
        List<String> debianDependencies,
        List<String> debianRecommendations,
        SortedMap<String, String> debianExceptions,
        List<String> rpmDependencies,
        PackageTree tree)
{
    static final String MAINTAINER = "The cachedhive developers <developers@cachedhive.io>";
    static final String LICENSE = "Apache-2.0";

    SystemPackage
    {
        requireNonNull(name, "name is null");
        requireNonNull(version, "version is null");
        description = List.copyOf(description);
        debianDependencies = List.copyOf(debianDependencies);
        debianRecommendations = List.copyOf(debianRecommendations);
        debianExceptions = unmodifiableSortedMap(new TreeMap<>(debianExceptions));
        rpmDependencies = List.copyOf(rpmDependencies);
        requireNonNull(tree, "tree is null");
    }

    /**
     * The version as dpkg and rpm write it: a snapshot is older than the release of its number.
     */
    String systemVersion()
    {
        return version.replace("-SNAPSHOT", "~snapshot").replace('-', '.');
    }

    /**
     * A maintainer script.
     *
     * @param kind {@code deb} or {@code rpm}
     */
    Optional<String> script(String kind, String script)
    {
        String resource = "%s/%s/%s".formatted(kind, name, script);
        try (InputStream input = SystemPackage.class.getResourceAsStream(resource)) {
            return input == null ? Optional.empty() : Optional.of(new String(input.readAllBytes(), UTF_8));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
