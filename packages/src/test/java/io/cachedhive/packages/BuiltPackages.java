package io.cachedhive.packages;

import org.apache.commons.compress.archivers.ar.ArArchiveEntry;
import org.apache.commons.compress.archivers.ar.ArArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * What the build has made, read by what did not write it.
 */
final class BuiltPackages
{
    static final Path DIRECTORY = Path.of(required("cachedhive.packages.directory"));
    static final String VERSION = required("cachedhive.packages.version");
    static final Path ROOT = DIRECTORY.resolve("../..").normalize();

    /**
     * Larger files are kept by their digests only.
     */
    private static final int TEXT_SIZE = 1 << 20;

    private BuiltPackages() {}

    /**
     * @param header as it stands in the archive
     * @param digest SHA-256 of the content in hexadecimal digits; of nothing where it is no file
     * @param content the content, empty if it is large
     */
    record Member(TarArchiveEntry header, String digest, byte[] content)
    {
        String name()
        {
            return header.getName();
        }

        /**
         * A link is none.
         */
        boolean isFile()
        {
            return header.isFile() && !header.isSymbolicLink();
        }

        String text()
        {
            return new String(content, UTF_8);
        }
    }

    private static String required(String property)
    {
        String value = System.getProperty(property);
        if (value == null) {
            throw new IllegalStateException("%s is not set: run the tests of this module by mvn -pl packages -am verify, they read what the build has made".formatted(property));
        }
        return value;
    }

    static Path file(String name)
    {
        Path file = DIRECTORY.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw new IllegalStateException("%s was not made".formatted(file));
        }
        return file;
    }

    static Path bundle()
    {
        return file("cachedhive-%s.tar.gz".formatted(VERSION));
    }

    static String systemVersion()
    {
        return VERSION.replace("-SNAPSHOT", "~snapshot");
    }

    static Map<String, Member> readTarGz(Path file)
    {
        try (InputStream input = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            return readTarGz(input);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Map<String, Member> readTarGz(InputStream input)
            throws IOException
    {
        Map<String, Member> members = new LinkedHashMap<>();
        TarArchiveInputStream tar = new TarArchiveInputStream(new GzipCompressorInputStream(input));
        for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
            DigestInputStream digested = new DigestInputStream(tar, sha256());
            byte[] content = {};
            if (entry.getSize() <= TEXT_SIZE) {
                content = digested.readAllBytes();
            }
            else {
                digested.transferTo(OutputStream.nullOutputStream());
            }
            Member member = new Member(entry, HexFormat.of().formatHex(digested.getMessageDigest().digest()), content);
            if (members.put(entry.getName(), member) != null) {
                throw new IllegalStateException("%s stands there twice".formatted(entry.getName()));
            }
        }
        return members;
    }

    /**
     * @param control what dpkg is to know, by its name
     * @param data the files
     * @param memberNames of the outer archive
     */
    record Deb(Map<String, Member> control, Map<String, Member> data, List<String> memberNames)
    {
        String controlText(String name)
        {
            return control.get("./" + name).text();
        }
    }

    static Deb readDeb(String packageName)
            throws IOException
    {
        Path file = file("%s_%s_all.deb".formatted(packageName, systemVersion()));
        Map<String, Member> control = Map.of();
        Map<String, Member> data = Map.of();
        List<String> names = new ArrayList<>();
        try (ArArchiveInputStream ar = new ArArchiveInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
            for (ArArchiveEntry entry = ar.getNextEntry(); entry != null; entry = ar.getNextEntry()) {
                names.add(entry.getName());
                switch (entry.getName()) {
                    case "control.tar.gz" -> control = readTarGz(new ByteArrayInputStream(ar.readAllBytes()));
                    case "data.tar.gz" -> data = readTarGz(ar);
                    default -> ar.readAllBytes();
                }
            }
        }
        return new Deb(control, data, names);
    }

    private static MessageDigest sha256()
    {
        try {
            return MessageDigest.getInstance("SHA-256");
        }
        catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
