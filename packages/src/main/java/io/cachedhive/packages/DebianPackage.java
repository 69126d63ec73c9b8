package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Access;
import io.cachedhive.packages.PackageEntry.Content;
import io.cachedhive.packages.PackageEntry.File;
import org.apache.commons.compress.archivers.ar.ArArchiveEntry;
import org.apache.commons.compress.archivers.ar.ArArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

/**
 * Writes packages as dpkg takes them (deb(5)): an ar archive of the format's version, a tar.gz of what dpkg is to know and one of the files.
 */
final class DebianPackage
{
    private static final List<String> SCRIPTS = List.of("preinst", "postinst", "prerm", "postrm");
    private static final int AR_FILE_MODE = 0100644;

    private final Archives archives;

    DebianPackage(Archives archives)
    {
        this.archives = archives;
    }

    static String fileName(SystemPackage content)
    {
        return "%s_%s_all.deb".formatted(content.name(), content.systemVersion());
    }

    void write(Path target, SystemPackage content)
            throws IOException
    {
        PackageTree tree = new PackageTree()
                .addAll(content.tree())
                .addTree("usr/share/doc/" + content.name(), documentation(content))
                .addText("usr/share/lintian/overrides/" + content.name(), lintianOverrides(content));

        ByteArrayOutputStream control = new ByteArrayOutputStream();
        archives.writeTarGz(control, "./", control(content, tree));
        // its size stands before it
        Path data = Files.createTempFile(target.getParent(), "data", ".tar.gz");
        try {
            archives.writeTarGz(data, "./", tree);
            try (ArArchiveOutputStream ar = new ArArchiveOutputStream(new BufferedOutputStream(Files.newOutputStream(target), 1 << 16))) {
                addMember(ar, "debian-binary", Content.of("2.0\n".getBytes(UTF_8)));
                addMember(ar, "control.tar.gz", Content.of(control.toByteArray()));
                addMember(ar, "data.tar.gz", Content.of(data));
            }
        }
        finally {
            Files.delete(data);
        }
    }

    private void addMember(ArArchiveOutputStream ar, String name, Content content)
            throws IOException
    {
        ar.putArchiveEntry(new ArArchiveEntry(name, content.size(), 0, 0, AR_FILE_MODE, archives.timestamp().getEpochSecond()));
        try (var input = content.open()) {
            input.transferTo(ar);
        }
        ar.closeArchiveEntry();
    }

    private static PackageTree control(SystemPackage content, PackageTree tree)
            throws IOException
    {
        PackageTree control = new PackageTree();
        control.addText("control", controlFile(content, tree));
        control.addText("md5sums", Checksums.list("MD5", tree));
        String configuration = tree.entries().entrySet().stream()
                .filter(entry -> entry.getValue() instanceof File file && file.configuration())
                .map(entry -> "/" + entry.getKey() + "\n")
                .collect(joining());
        if (!configuration.isEmpty()) {
            control.addText("conffiles", configuration);
        }
        for (String name : SCRIPTS) {
            content.script("deb", name).ifPresent(script ->
                    control.addFile(name, new File(Content.of(script.getBytes(UTF_8)), PackageTree.PROGRAM_MODE, Access.ROOT, false)));
        }
        return control;
    }

    private static String controlFile(SystemPackage content, PackageTree tree)
            throws IOException
    {
        StringBuilder control = new StringBuilder();
        control.append("Package: ").append(content.name()).append('\n');
        control.append("Version: ").append(content.systemVersion()).append('\n');
        control.append("Architecture: all\n");
        control.append("Maintainer: ").append(SystemPackage.MAINTAINER).append('\n');
        // in KiB
        control.append("Installed-Size: ").append((tree.size() + 1023) / 1024).append('\n');
        if (!content.debianDependencies().isEmpty()) {
            control.append("Depends: ").append(String.join(", ", content.debianDependencies())).append('\n');
        }
        if (!content.debianRecommendations().isEmpty()) {
            control.append("Recommends: ").append(String.join(", ", content.debianRecommendations())).append('\n');
        }
        control.append("Section: database\n");
        control.append("Priority: optional\n");
        control.append("Description: ").append(content.summary()).append('\n');
        control.append(content.description().stream().map(DebianPackage::paragraph).collect(joining(" .\n")));
        return control.toString();
    }

    /**
     * A paragraph of a description: lines that begin with a space.
     */
    private static String paragraph(String text)
    {
        StringBuilder paragraph = new StringBuilder();
        int width = 0;
        for (String word : text.split(" ")) {
            if (width > 0 && width + 1 + word.length() > 75) {
                paragraph.append('\n');
                width = 0;
            }
            paragraph.append(' ').append(word);
            width += 1 + word.length();
        }
        return paragraph.append('\n').toString();
    }

    /**
     * The exceptions from Debian's rules, for lintian(1), which finds nothing else in the packages.
     */
    private static String lintianOverrides(SystemPackage content)
    {
        return content.debianExceptions().entrySet().stream()
                .map(exception -> "# %s\n%s: %s\n".formatted(exception.getValue(), content.name(), exception.getKey()))
                .collect(joining());
    }

    private PackageTree documentation(SystemPackage content)
            throws IOException
    {
        String date = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC).format(archives.timestamp());
        String changes = """
                %s (%s) unstable; urgency=medium

                  * Made by the project's own build. What changed stands in its history.

                 -- %s  %s
                """.formatted(content.name(), content.systemVersion(), SystemPackage.MAINTAINER, date);
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        GzipParameters parameters = new GzipParameters();
        parameters.setCompressionLevel(9);
        try (OutputStream gzip = new GzipCompressorOutputStream(compressed, parameters)) {
            gzip.write(changes.getBytes(UTF_8));
        }
        return new PackageTree()
                .addFile("changelog.gz", new File(Content.of(compressed.toByteArray()), PackageTree.FILE_MODE, Access.ROOT, false))
                .addText("copyright", """
                        Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
                        Upstream-Name: cachedhive
                        Comment: The libraries in this package are under their own licenses, which
                         stand in their jars.

                        Files: *
                        Copyright: 2026 the cachedhive developers
                        License: Apache-2.0
                         Licensed under the Apache License, Version 2.0. On Debian systems its full
                         text is in /usr/share/common-licenses/Apache-2.0.
                        """);
    }
}
