package io.cachedhive.tests.containers;

import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.Maps;

import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Everything on a host's own disk: files, directories and links with their owners, modes, sizes and contents; users, groups, units and limits are among them.
 * Not what is shown to the host from elsewhere, nor the times, nor what any login over ssh writes.
 *
 * @param entries by path
 */
record FileListing(SortedMap<String, String> entries)
{
    private static final String WRITTEN_BY_LOGINS = Stream.of("/tmp", "/var/log/wtmp", "/var/log/btmp", "/var/log/lastlog", "/run/utmp", "/run/motd.dynamic",
                    // copies that the programs for users make before each change
                    "/etc/passwd-", "/etc/shadow-", "/etc/group-", "/etc/gshadow-", "/etc/.pwd.lock")
            .map(path -> "-path " + path)
            .collect(joining(" -o "));

    FileListing
    {
        requireNonNull(entries, "entries is null");
        entries = ImmutableSortedMap.copyOfSorted(entries);
    }

    static FileListing of(ContainerHost host)
    {
        SortedMap<String, String> entries = new TreeMap<>();
        // what is mounted is on another device
        String format = "-printf '%p\\t%y %m %u:%g %l\\n'";
        host.mustRun("find / -xdev \\( %1$s \\) -prune -o %2$s; find /dev/shm -type f %2$s".formatted(WRITTEN_BY_LOGINS, format))
                .lines()
                .map(line -> line.split("\t", 2))
                .forEach(fields -> entries.put(fields[0], fields[1]));
        host.mustRun("find / -xdev \\( %s \\) -prune -o -type f -print0 | xargs -0 sha256sum".formatted(WRITTEN_BY_LOGINS))
                .lines()
                // digest, two blanks, path
                .forEach(line -> entries.merge(line.substring(66), line.substring(0, 64), (entry, digest) -> entry + " " + digest));
        return new FileListing(entries);
    }

    /**
     * What is another here than there: each path with what it was there and is here.
     */
    SortedMap<String, String> changesSince(FileListing before)
    {
        SortedMap<String, String> changes = new TreeMap<>();
        var difference = Maps.difference(before.entries, entries);
        difference.entriesOnlyOnLeft().forEach((path, entry) -> changes.put(path, "gone: " + entry));
        difference.entriesOnlyOnRight().forEach((path, entry) -> changes.put(path, "new: " + entry));
        difference.entriesDiffering().forEach((path, entry) -> changes.put(path, "was %s, is %s".formatted(entry.leftValue(), entry.rightValue())));
        return changes;
    }
}
