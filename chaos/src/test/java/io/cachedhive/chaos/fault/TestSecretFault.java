package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.home.SharedSecretFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TestSecretFault
{
    private static final String FORMER = "the former secret of the test, 32 characters and more";

    @TempDir
    private Path directory;

    private List<SharedSecretFile> cacheWorkers;
    private List<SharedSecretFile> trino;
    private final List<String> steps = new ArrayList<>();

    @BeforeEach
    void setUp()
    {
        cacheWorkers = files("cache-worker-1", "cache-worker-2", "cache-worker-3");
        trino = files("coordinator", "worker-1", "worker-2", "worker-3");
    }

    private List<SharedSecretFile> files(String... names)
    {
        List<SharedSecretFile> files = Stream.of(names).map(name -> new SharedSecretFile(directory.resolve(name))).toList();
        files.forEach(file -> file.write(List.of(FORMER)));
        return files;
    }

    @Test
    void testRotation()
            throws Exception
    {
        Undo undo = begin(7);
        String next = all().map(SharedSecretFile::read).filter(secrets -> secrets.size() == 2).findFirst().orElseThrow().getFirst();
        assertThat(next).hasSize(48).isNotEqualTo(FORMER);
        // a part of each kind of process has both secrets, and the others know only the former one
        assertThat(cacheWorkers.stream().map(SharedSecretFile::read)).containsExactlyInAnyOrder(List.of(next, FORMER), List.of(FORMER), List.of(FORMER));
        assertThat(trino.stream().map(SharedSecretFile::read)).containsExactlyInAnyOrder(List.of(next, FORMER), List.of(next, FORMER), List.of(FORMER), List.of(FORMER));
        // a process accepts it before and after it has read the file
        assertThat(all().map(SharedSecretFile::accepted)).containsOnly(FORMER);
        assertThat(Files.getPosixFilePermissions(trino.getFirst().path())).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(steps).isEmpty();

        undo.run();
        assertThat(steps).containsExactly(
                "PT10S: " + List.of(List.of(next, FORMER)),
                "PT10S: " + List.of(List.of(next)),
                "accepts %s, refuses %s".formatted(next, FORMER));

        begin(8).run();
        assertThat(all().map(SharedSecretFile::read).distinct().toList()).hasSize(1).doesNotContain(List.of(next), List.of(FORMER));
    }

    @Test
    void testSeed()
    {
        begin(7);
        List<List<String>> secrets = all().map(SharedSecretFile::read).toList();
        setUp();
        begin(7);
        assertThat(all().map(SharedSecretFile::read)).containsExactlyElementsOf(secrets);
        setUp();
        begin(8);
        assertThat(all().map(SharedSecretFile::read).toList()).isNotEqualTo(secrets);
    }

    private Stream<SharedSecretFile> all()
    {
        return Stream.of(cacheWorkers, trino).flatMap(List::stream);
    }

    private Undo begin(long seed)
    {
        SecretFault fault = new SecretFault(
                cacheWorkers,
                trino,
                (Duration duration) -> steps.add(duration + ": " + all().map(SharedSecretFile::read).distinct().toList()),
                (accepted, refused) -> steps.add("accepts %s, refuses %s".formatted(accepted, refused)));
        return fault.begin(new Random(seed));
    }
}
