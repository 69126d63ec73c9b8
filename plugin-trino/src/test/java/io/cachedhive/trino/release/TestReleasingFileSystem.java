package io.cachedhive.trino.release;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.release.FileReleases;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.local.LocalFileSystemFactory;
import io.trino.spi.security.ConnectorIdentity;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestReleasingFileSystem
{
    private static final Place PLACE = new Place(
            new WorkerAddress("127.0.0.1", 1),
            PlaceState.ANSWERING,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            0,
            Optional.empty(),
            0);

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<String> released = new ArrayList<>();
    private final FileReleases releases = new FileReleases(
            FileOrigins.of("lake", Map.of("fs.local.enabled", "true"), true),
            () -> List.of(PLACE),
            (_, _, locations) -> {
                released.addAll(locations);
                return CompletableFuture.completedFuture(null);
            },
            (_, task) -> tasks.add(task));
    private TrinoFileSystem fileSystem;

    @BeforeEach
    void create(@TempDir Path directory)
    {
        fileSystem = new ReleasingFileSystemFactory(new LocalFileSystemFactory(directory), releases).create(ConnectorIdentity.ofUser("user"));
    }

    private static Location location(String path)
    {
        return Location.of("local:///" + path);
    }

    private List<String> released()
    {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        List<String> locations = List.copyOf(released);
        released.clear();
        return locations;
    }

    private void write(String... paths)
            throws IOException
    {
        for (String path : paths) {
            fileSystem.newOutputFile(location(path)).createOrOverwrite(new byte[1]);
        }
        assertThat(released()).as("new files").isEmpty();
    }

    @Test
    void reportsWhatIsRemoved()
            throws Exception
    {
        write("t/a", "t/b", "t/c", "t/p=1/d", "t/p=1/e");
        fileSystem.deleteFile(location("t/a"));
        assertThat(released()).containsExactly("local:///t/a");
        fileSystem.deleteFiles(List.of(location("t/b"), location("t/c")));
        assertThat(released()).containsExactly("local:///t/b", "local:///t/c");
        fileSystem.renameFile(location("t/p=1/d"), location("t/p=1/f"));
        assertThat(released()).containsExactly("local:///t/p=1/d");
        fileSystem.deleteDirectory(location("t/p=1"));
        assertThat(released()).containsExactly("local:///t/p=1/");
        assertThat(fileSystem.listFiles(location("t")).hasNext()).isFalse();
    }

    @Test
    void reportsOldNamesOfDirectories()
            throws Exception
    {
        write("t/p=1/a");
        fileSystem.renameDirectory(location("t/p=1"), location("t/p=2"));
        assertThat(released()).containsExactly("local:///t/p=1/");
    }

    @Test
    void reportsNothingThatFailed()
    {
        assertThatThrownBy(() -> fileSystem.renameFile(location("missing"), location("other"))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> fileSystem.renameDirectory(location("missing"), location("other"))).isInstanceOf(IOException.class);
        assertThat(released()).isEmpty();
    }
}
