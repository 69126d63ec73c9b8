package io.cachedhive.packages;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static io.cachedhive.packages.BuiltPackages.DIRECTORY;
import static io.cachedhive.packages.BuiltPackages.ROOT;
import static io.cachedhive.packages.BuiltPackages.VERSION;
import static io.cachedhive.packages.BuiltPackages.systemVersion;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The checksums of the packages, and the commands on the page by which they are signed and verified.
 */
@Tag("slow")
class TestChecksums
{
    @TempDir
    private Path directory;

    @AfterEach
    void stopAgent()
            throws Exception
    {
        if (Files.isDirectory(directory.resolve("keys"))) {
            run("gpgconf --kill all");
        }
    }

    @Test
    void testSumsOfAllPackages()
            throws Exception
    {
        List<String> files = Files.readAllLines(DIRECTORY.resolve("SHA256SUMS")).stream().map(line -> line.split(" {2}", 2)[1]).toList();
        try (Stream<Path> built = Files.list(DIRECTORY)) {
            assertThat(files).containsExactlyInAnyOrderElementsOf(built
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.equals("bom.json")
                            || name.matches("cachedhive-.*%s\\.tar\\.gz".formatted(Pattern.quote(VERSION)))
                            || name.matches("cachedhive-.*%s.*\\.(deb|rpm)".formatted(Pattern.quote(systemVersion()))))
                    .toList())
                    .hasSize(11);
        }
        Result check = run("cd '%s' && sha256sum --check --strict --quiet SHA256SUMS".formatted(DIRECTORY.toAbsolutePath()));
        assertThat(check.exitCode()).describedAs(check.output()).isEqualTo(0);
    }

    @Test
    void testPageSignsAndVerifies()
            throws Exception
    {
        assumeTrue(isInstalled("gpg") && isInstalled("gpgv"), "gpg or gpgv is not installed here");
        String admin = "cachedhive-admin-%s.tar.gz".formatted(VERSION);
        Files.copy(DIRECTORY.resolve(admin), directory.resolve(admin));
        Files.copy(DIRECTORY.resolve("SHA256SUMS"), directory.resolve("SHA256SUMS"));
        createKey("keys", "releases@cachedhive.invalid");
        List<String> blocks = commandsOfPage();
        assertThat(blocks).hasSize(2);
        String sign = blocks.get(0);
        String verify = blocks.get(1).strip().replace("\n", " && ");

        assertThat(run(sign)).satisfies(result -> assertThat(result.exitCode()).describedAs(result.output()).isEqualTo(0));
        assertThat(run(verify)).satisfies(result -> assertThat(result.exitCode()).describedAs(result.output()).isEqualTo(0));

        // a package with another byte
        byte[] bytes = Files.readAllBytes(directory.resolve(admin));
        bytes[bytes.length / 2] ^= 1;
        Files.write(directory.resolve(admin), bytes);
        assertThat(run(verify)).satisfies(result -> {
            assertThat(result.exitCode()).isNotEqualTo(0);
            assertThat(result.output()).contains("%s: FAILED".formatted(admin));
        });

        // and its checksum in the list
        String digest = Checksums.digest("SHA-256", PackageEntry.Content.of(bytes));
        Files.writeString(directory.resolve("SHA256SUMS"), "%s  %s\n".formatted(digest, admin));
        assertThat(run(verify)).satisfies(result -> {
            assertThat(result.exitCode()).isNotEqualTo(0);
            assertThat(result.output()).contains("BAD signature").doesNotContain(admin);
        });

        // and a signature by a key of somebody else
        createKey("other-keys", "stranger@cachedhive.invalid");
        assertThat(run("GNUPGHOME=\"$PWD/other-keys\" gpg --armor --detach-sign --yes SHA256SUMS && GNUPGHOME=\"$PWD/other-keys\" gpgconf --kill all").exitCode()).isEqualTo(0);
        assertThat(run(verify)).satisfies(result -> {
            assertThat(result.exitCode()).isNotEqualTo(0);
            assertThat(result.output()).contains("No public key").doesNotContain(admin);
        });
    }

    private void createKey(String home, String name)
            throws Exception
    {
        assertThat(run("mkdir -m 700 %1$s && GNUPGHOME=\"$PWD/%1$s\" gpg --batch --quiet --passphrase '' --quick-generate-key %2$s ed25519 sign never".formatted(home, name)))
                .satisfies(result -> assertThat(result.exitCode()).describedAs(result.output()).isEqualTo(0));
    }

    private static List<String> commandsOfPage()
            throws IOException
    {
        String page = Files.readString(ROOT.resolve("docs/operations/packages.md"));
        Matcher section = Pattern.compile("(?s)\n## Checksums and signatures\n(.*?)\n## ").matcher(page);
        assertThat(section.find()).isTrue();
        return Pattern.compile("(?s)```\n(.*?)```").matcher(section.group(1)).results().map(match -> match.group(1)).toList();
    }

    private static boolean isInstalled(String program)
    {
        return Files.isExecutable(Path.of("/usr/bin", program));
    }

    private record Result(int exitCode, String output) {}

    private Result run(String script)
            throws Exception
    {
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", "set -e\n" + script).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().put("GNUPGHOME", directory.resolve("keys").toString());
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes());
        return new Result(process.waitFor(), output);
    }
}
