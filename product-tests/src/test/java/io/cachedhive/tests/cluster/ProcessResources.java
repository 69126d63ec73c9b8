package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.ClusterNode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

/**
 * What a process has of what the operating system and its JVM can give, each by kind: a name without its numbers.
 *
 * @param descriptors open files and sockets
 * @param mappings of files in memory
 * @param threads without those that answer JMX, which is asked for them
 * @param beans names of MBeans
 */
record ProcessResources(Map<String, Long> descriptors, Map<String, Long> mappings, Map<String, Long> threads, Map<String, Long> beans)
{
    static ProcessResources of(ClusterNode node)
            throws IOException
    {
        Path process = Path.of("/proc/" + node.pid());
        // before a connection to JMX adds some
        Map<String, Long> descriptors = byKind(descriptors(process));
        Map<String, Long> mappings = byKind(Files.readAllLines(process.resolve("maps")).stream()
                // address perms offset dev inode path
                .map(line -> line.split("\\s+", 6))
                .filter(fields -> fields.length == 6 && fields[5].startsWith("/"))
                .map(fields -> fields[5])
                .toList());
        try (NodeJmx jmx = NodeJmx.connect(node)) {
            return new ProcessResources(
                    descriptors,
                    mappings,
                    byKind(jmx.threadNames().stream().filter(name -> !name.startsWith("RMI ") && !name.startsWith("JMX ")).toList()),
                    byKind(jmx.beanNames()));
        }
    }

    private static List<String> descriptors(Path process)
            throws IOException
    {
        try (Stream<Path> links = Files.list(process.resolve("fd"))) {
            return links.map(ProcessResources::target).toList();
        }
    }

    private static String target(Path link)
    {
        try {
            return Files.readSymbolicLink(link).toString();
        }
        catch (NoSuchFileException _) {
            return "closed";
        }
        catch (IOException e) {
            return e.toString();
        }
    }

    private static Map<String, Long> byKind(List<String> names)
    {
        return names.stream().collect(groupingBy(name -> name.replaceAll("\\d+", "N"), TreeMap::new, counting()));
    }

    /**
     * Of what there is more now.
     *
     * @param more than so many of a kind, as a pool of threads or connections may grow and shrink
     */
    static Map<String, Long> grown(Map<String, Long> before, Map<String, Long> after, long more)
    {
        Map<String, Long> grown = new TreeMap<>();
        after.forEach((kind, count) -> {
            long difference = count - before.getOrDefault(kind, 0L);
            if (difference > more) {
                grown.put(kind, difference);
            }
        });
        return grown;
    }

    /**
     * Those with this in their names.
     */
    List<String> named(String text)
    {
        return Stream.of(descriptors, mappings, threads, beans)
                .flatMap(kinds -> kinds.keySet().stream())
                .filter(kind -> kind.contains(text))
                .toList();
    }
}
