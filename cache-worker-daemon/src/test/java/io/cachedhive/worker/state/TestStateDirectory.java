package io.cachedhive.worker.state;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestStateDirectory
{
    private static final Set<String> CHANGES = Set.of("rename", "syncDirectory");

    @TempDir
    private Path parent;

    private final List<String> changes = new ArrayList<>();

    /**
     * The local disk. It records changes of directories, also those that its own methods make.
     */
    private Disk recordingDisk()
    {
        Disk disk = new LocalDisk();
        return (Disk) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Disk.class}, (proxy, method, arguments) -> {
            if (CHANGES.contains(method.getName())) {
                changes.add(method.getName() + " " + ((Path) arguments[arguments.length - 1]).getFileName());
            }
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            try {
                return method.invoke(disk, arguments);
            }
            catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    /**
     * What a power cut leaves of such a sequence is tried on the fake disk, by {@code TestReplacedFiles} of the store.
     */
    @Test
    void whatIsWrittenIsDurable()
            throws Exception
    {
        Path directory = parent.resolve("new").resolve("state");
        StateDirectory state = StateDirectory.open(directory, recordingDisk());
        assertThat(changes).containsExactly("syncDirectory " + parent.getFileName(), "syncDirectory new");
        assertThat(state.read("pins")).isEmpty();

        changes.clear();
        for (String content : List.of("longer than the next", "short", "")) {
            state.write("pins", content.getBytes(UTF_8));
            assertThat(state.read("pins")).contains(content.getBytes(UTF_8));
        }
        assertThat(changes).startsWith("rename pins", "syncDirectory state").hasSize(6);
        assertThat(directory).isDirectoryContaining(file -> file.endsWith("pins")).isDirectoryNotContaining(file -> file.endsWith("pins.new"));

        changes.clear();
        StateDirectory.open(directory, recordingDisk());
        assertThat(changes).isEmpty();
    }
}
