package io.cachedhive.packages;

import org.apache.commons.compress.archivers.cpio.CpioArchiveEntry;
import org.apache.commons.compress.archivers.cpio.CpioArchiveInputStream;
import org.eclipse.packager.rpm.FileFlags;
import org.eclipse.packager.rpm.RpmTag;
import org.eclipse.packager.rpm.parse.InputHeader;
import org.eclipse.packager.rpm.parse.RpmInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

import static io.cachedhive.packages.BuiltPackages.systemVersion;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
class TestRpmPackages
{
    /**
     * @param digest as the header names it
     * @param content SHA-256 of what the payload has there; empty for what is no file
     */
    record RpmFile(String user, String group, int mode, int flags, String digest, String content) {}

    record Rpm(Map<RpmTag, Object> header, Map<String, RpmFile> files) {}

    @ParameterizedTest
    @ValueSource(strings = {"cachedhive-worker", "cachedhive-trino-plugin", "cachedhive-admin"})
    void testForm(String name)
            throws Exception
    {
        Rpm rpm = read(name);
        assertThat(rpm.header())
                .containsEntry(RpmTag.NAME, name)
                .containsEntry(RpmTag.VERSION, systemVersion())
                .containsEntry(RpmTag.ARCH, "noarch")
                .containsEntry(RpmTag.LICENSE, "Apache-2.0");
        assertThat(rpm.files()).isNotEmpty();
        rpm.files().forEach((path, file) -> {
            if (!file.content().isEmpty()) {
                assertThat(file.digest()).describedAs(path).isEqualTo(file.content());
            }
        });
    }

    @Test
    void testCacheWorker()
            throws Exception
    {
        Rpm rpm = read("cachedhive-worker");
        assertThat(rpm.files()).containsKeys(
                "/usr/bin/cache-worker",
                "/usr/lib/cachedhive/bin/cache-worker",
                "/usr/lib/systemd/system/cachedhive-worker.service",
                "/usr/lib/tmpfiles.d/cachedhive-worker.conf");
        // those of the system are not ours
        assertThat(rpm.files()).doesNotContainKeys("/etc", "/usr", "/usr/bin", "/usr/lib", "/usr/lib/systemd/system", "/usr/lib/tmpfiles.d", "/var", "/var/lib");

        RpmFile configuration = rpm.files().get("/etc/cachedhive/config.properties");
        assertThat(FileFlags.decode(configuration.flags())).contains(FileFlags.CONFIGURATION, FileFlags.NOREPLACE);
        assertThat(configuration.user()).isEqualTo("root");
        assertThat(configuration.group()).isEqualTo("cachedhive");
        assertThat(configuration.mode() & 0777).isEqualTo(0640);
        assertThat(rpm.files().get("/var/lib/cachedhive").user()).isEqualTo("cachedhive");
        assertThat(rpm.files().get("/var/lib/cachedhive").mode() & 0777).isEqualTo(0750);
        assertThat(rpm.files().get("/usr/lib/cachedhive/bin/cache-worker").mode() & 0777).isEqualTo(0755);

        // before its files, which belong to that user
        assertThat((String) rpm.header().get(RpmTag.PREINSTALL_SCRIPT))
                .contains("useradd --system", "usermod --append --groups cachedhive-socket cachedhive")
                .doesNotContain("systemctl");
        assertThat((String) rpm.header().get(RpmTag.POSTINSTALL_SCRIPT)).contains("systemctl --system daemon-reload").doesNotContain("systemctl start", "restart", "enable");
        assertThat((String) rpm.header().get(RpmTag.PREREMOVE_SCRIPT)).contains("disable --now cachedhive-worker.service");
        assertThat((String) rpm.header().get(RpmTag.POSTREMOVE_SCRIPT)).contains("try-restart cachedhive-worker.service").doesNotContain("rm ").doesNotContain("userdel");
    }

    @Test
    void testHasWhatTheDebianPackageHas()
            throws Exception
    {
        for (String name : new String[] {"cachedhive-worker", "cachedhive-admin"}) {
            Map<String, String> debian = new TreeMap<>();
            BuiltPackages.readDeb(name).data().values().stream()
                    .filter(member -> member.isFile() && !member.name().startsWith("./usr/share/doc/") && !member.name().startsWith("./usr/share/lintian/"))
                    .forEach(member -> debian.put(member.name().substring(1), member.digest()));
            Map<String, String> rpm = new TreeMap<>();
            read(name).files().forEach((path, file) -> {
                if (!file.content().isEmpty()) {
                    rpm.put(path, file.content());
                }
            });
            assertThat(rpm).isEqualTo(debian);
        }
    }

    static Rpm read(String name)
            throws Exception
    {
        Path file = BuiltPackages.file("%s-%s-1.noarch.rpm".formatted(name, systemVersion()));
        try (RpmInputStream input = new RpmInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
            InputHeader<RpmTag> header = input.getPayloadHeader();
            Map<RpmTag, Object> tags = new EnumMap<>(RpmTag.class);
            for (RpmTag tag : RpmTag.values()) {
                Object value = header.getTag(tag);
                if (value != null) {
                    tags.put(tag, value);
                }
            }
            Map<String, String> contents = contents(input.getCpioStream());
            return new Rpm(tags, files(tags, contents));
        }
    }

    private static Map<String, RpmFile> files(Map<RpmTag, Object> tags, Map<String, String> contents)
    {
        String[] names = (String[]) tags.get(RpmTag.BASENAMES);
        String[] directories = (String[]) tags.get(RpmTag.DIRNAMES);
        Map<String, RpmFile> files = new TreeMap<>();
        for (int i = 0; i < names.length; i++) {
            String path = directories[integers(tags, RpmTag.DIR_INDEXES)[i]] + names[i];
            assertThat(contents).containsKey("." + path);
            files.put(path, new RpmFile(
                    ((String[]) tags.get(RpmTag.FILE_USERNAME))[i],
                    ((String[]) tags.get(RpmTag.FILE_GROUPNAME))[i],
                    Short.toUnsignedInt(((Short[]) tags.get(RpmTag.FILE_MODES))[i]),
                    integers(tags, RpmTag.FILE_FLAGS)[i],
                    ((String[]) tags.get(RpmTag.FILE_DIGESTS))[i],
                    contents.get("." + path)));
        }
        assertThat(files).hasSameSizeAs(contents.entrySet());
        return files;
    }

    private static Integer[] integers(Map<RpmTag, Object> tags, RpmTag tag)
    {
        return (Integer[]) tags.get(tag);
    }

    private static Map<String, String> contents(CpioArchiveInputStream cpio)
            throws IOException
    {
        Map<String, String> contents = new TreeMap<>();
        for (CpioArchiveEntry entry = cpio.getNextEntry(); entry != null; entry = cpio.getNextEntry()) {
            contents.put(entry.getName(), entry.isRegularFile() ? sha256(cpio) : "");
        }
        return contents;
    }

    private static String sha256(CpioArchiveInputStream cpio)
            throws IOException
    {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (int count = cpio.read(buffer); count >= 0; count = cpio.read(buffer)) {
                digest.update(buffer, 0, count);
            }
            return HexFormat.of().formatHex(digest.digest());
        }
        catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
