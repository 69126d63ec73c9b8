package io.cachedhive.worker.storage;

import io.cachedhive.protocol.memory.FileStatus;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.disk.Posix;
import io.cachedhive.worker.startup.StartupException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class TestPrivateDirectories
{
    private static final int USER = Posix.userId();

    @TempDir
    private Path directory;

    private Path ram;
    private Path ssd;
    private Path state;
    private Path run;
    private Path socket;
    private StoreConfig config;

    @BeforeEach
    void setUp()
            throws IOException
    {
        ram = directory.resolve("ram");
        ssd = create("ssd", 0700);
        state = create("state", 0700);
        run = create("run", 0750);
        socket = run.resolve("worker.sock");
        config = StoreConfig.ramOnly(state).withRam(ram, 64 << 20).withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new Capacity.Bytes(64 << 20))));
    }

    @Test
    void testCreatesRamDirectory()
            throws IOException
    {
        PrivateDirectories.prepare(config, socket);
        assertThat(FileStatus.ofPath(ram).permissions()).isEqualTo("0700");
        // a second start
        PrivateDirectories.prepare(config, socket);
        assertThat(PrivateDirectories.check(config, socket, USER)).isEmpty();
    }

    @Test
    void testGroupOfRamDirectory()
            throws IOException
    {
        String group = Files.readAttributes(directory, PosixFileAttributes.class).group().getName();
        PrivateDirectories.prepare(config.withSharedGroup(Optional.of(group)), socket);
        assertThat(FileStatus.ofPath(ram).permissions()).isEqualTo("0750");
        assertThat(Files.readAttributes(ram, PosixFileAttributes.class).group().getName()).isEqualTo(group);

        // as in containers, which often have no name for it
        Files.delete(ram);
        int number = (int) Files.getAttribute(directory, "unix:gid");
        PrivateDirectories.prepare(config.withSharedGroup(Optional.of(Integer.toString(number))), socket);
        assertThat(Files.getAttribute(ram, "unix:gid")).isEqualTo(number);
    }

    @Test
    void testUnknownGroup()
    {
        assertThatThrownBy(() -> PrivateDirectories.prepare(config.withSharedGroup(Optional.of("no-such-group")), socket))
                .isInstanceOf(StartupException.class)
                .hasMessage("cache.worker.socket-group=no-such-group: there is no such group on this host: create it, or name the group of the user that Trino runs as");
        assertThat(ram).doesNotExist();
    }

    /**
     * A mount point that is missing altogether is a mistake that the store reports.
     */
    @Test
    void testMissingParent()
    {
        PrivateDirectories.prepare(config.withRam(directory.resolve("missing/ram"), 64 << 20), socket);
        assertThat(directory.resolve("missing")).doesNotExist();
    }

    @Test
    void testWritableByAll()
            throws IOException
    {
        create("ram", 0700);
        Map<Path, String> properties = Map.of(
                ram, "cache.ram.directory",
                ssd, "cache.ssd.directories",
                state, "cache.state-directory",
                run, "the directory of cache.worker.socket-path");
        for (Path open : properties.keySet()) {
            setMode(open, 0707);
            assertThatThrownBy(() -> PrivateDirectories.prepare(config, socket))
                    .isInstanceOf(StartupException.class)
                    .hasMessage("%s, %s, can be changed by every user of this host (mode 0707): run chmod o-w %s".formatted(properties.get(open), open, open));
            setMode(open, 0755);
            assertThatCode(() -> PrivateDirectories.prepare(config, socket)).doesNotThrowAnyException();
        }
        // like /dev/shm: the files in it are checked one by one
        setMode(ram, 01777);
        assertThat(PrivateDirectories.check(config, socket, USER)).isEmpty();
        setMode(run, 01777);
        assertThat(PrivateDirectories.check(config, socket, USER)).containsExactly(
                "the directory of cache.worker.socket-path, %s, is open to other users, who can take the name while the cache worker is stopped: ".formatted(run)
                        + "choose a directory of the cache worker's own user");
        // files of these would be trusted by their names
        setMode(ssd, 01777);
        assertThatThrownBy(() -> PrivateDirectories.prepare(config, socket)).hasMessageContaining("(mode 1777)");
    }

    @Test
    void testWritableByGroup()
            throws IOException
    {
        create("ram", 0770);
        setMode(ssd, 0775);
        assertThat(PrivateDirectories.check(config, socket, USER)).containsExactly(
                "cache.ram.directory, %s, can be changed by its group (mode 0770): run chmod g-w %s, unless all members of the group may change the cache".formatted(ram, ram),
                "cache.ssd.directories, %s, can be changed by its group (mode 0775): run chmod g-w %s, unless all members of the group may change the cache".formatted(ssd, ssd));
    }

    /**
     * Another user was first to create the directory, or a link of its name.
     */
    @Test
    void testForeignOwner()
            throws IOException
    {
        assumeTrue(USER == FileStatus.ROOT_ID, "only root can give files to another user");
        create("ram", 0755);
        Files.setAttribute(ram, "unix:uid", 65534);
        String problem = "cache.ram.directory=%s belongs to the user with the id 65534: remove it as root, or name a directory of the cache worker's own user".formatted(ram);
        assertThatThrownBy(() -> PrivateDirectories.prepare(config, socket)).isInstanceOf(StartupException.class).hasMessage(problem);

        Files.delete(ram);
        Files.createSymbolicLink(ram, state);
        PrivateDirectories.prepare(config, socket);
        Files.setAttribute(ram, "unix:uid", 65534, LinkOption.NOFOLLOW_LINKS);
        assertThatThrownBy(() -> PrivateDirectories.prepare(config, socket)).isInstanceOf(StartupException.class).hasMessage(problem);

        Files.delete(ram);
        Files.setAttribute(ssd, "unix:uid", 65534);
        assertThat(PrivateDirectories.check(config, socket, USER))
                .containsExactly("cache.ssd.directories, %s, belongs to the user with the id 65534, who can change the cache: give it to the cache worker's user".formatted(ssd));
    }

    private Path create(String name, int mode)
            throws IOException
    {
        Path created = Files.createDirectory(directory.resolve(name));
        setMode(created, mode);
        return created;
    }

    private static void setMode(Path path, int mode)
            throws IOException
    {
        Files.setAttribute(path, "unix:mode", mode);
    }
}
