package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.ClusterNode;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import static com.google.common.io.MoreFiles.deleteDirectoryContents;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;

/**
 * What happens to the directories of a cache worker.
 */
final class CacheDirectories
{
    private static final int MOST_FLIPS_PER_FILE = 60;
    // of a slab that is in use, blocks from its begin on are filled first
    private static final long MOST_SLAB_BYTES = 32L << 20;

    private CacheDirectories() {}

    static Path ssd(ClusterNode cacheWorker)
    {
        return cacheWorker.home().path().resolve("ssd");
    }

    static void wipe(Path directory)
            throws IOException
    {
        if (Files.isDirectory(directory)) {
            deleteDirectoryContents(directory, ALLOW_INSECURE);
        }
    }

    /** Flips bytes in the files whose names begin with the prefix. */
    static void damage(Path directory, String prefix, Random random)
            throws IOException
    {
        for (Path path : files(directory, prefix)) {
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                long length = Math.min(file.length(), MOST_SLAB_BYTES);
                int flips = length == 0 ? 0 : 1 + random.nextInt(MOST_FLIPS_PER_FILE);
                for (int flip = 0; flip < flips; flip++) {
                    long position = (long) (random.nextDouble() * length);
                    file.seek(position);
                    int value = file.read();
                    file.seek(position);
                    file.write(value ^ 1 + random.nextInt(255));
                }
            }
        }
    }

    static List<Path> files(Path directory, String prefix)
            throws IOException
    {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> file.getFileName().toString().startsWith(prefix) && !file.endsWith("lock"))
                    .sorted()
                    .toList();
        }
    }

    static void swap(Path left, Path right)
            throws IOException
    {
        Path between = left.resolveSibling("ssd.swapped");
        Files.move(left, between);
        Files.move(right, left);
        Files.move(between, right);
    }

    /** Changes a property of the cache worker's configuration for its next start. */
    static void setProperty(ClusterNode cacheWorker, String key, String value)
            throws IOException
    {
        Path file = cacheWorker.home().path().resolve("etc/config.properties");
        List<String> lines = Files.readAllLines(file).stream()
                .map(line -> line.startsWith(key + "=") ? key + "=" + value : line)
                .toList();
        Files.write(file, lines);
    }
}
