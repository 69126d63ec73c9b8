package io.cachedhive.chaos;

import com.google.common.collect.ImmutableSet;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.FaultSchedule;
import io.cachedhive.chaos.schedule.PlannedFault;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import static java.util.Objects.requireNonNull;

/**
 * What a run does.
 *
 * @param length of the part with faults
 * @param directory of everything
 * @param keep whether the directory stays as it is
 */
record ChaosPlan(long seed, Duration length, Set<FaultKind> kinds, int clients, Path directory, boolean keep)
{
    static final int HOSTS = 3;

    ChaosPlan
    {
        requireNonNull(length, "length is null");
        kinds = ImmutableSet.copyOf(kinds);
        requireNonNull(directory, "directory is null");
    }

    List<PlannedFault> schedule()
    {
        return FaultSchedule.draw(seed, length, kinds, HOSTS);
    }

    /** A seed for a client; numbers begin at 0. */
    long clientSeed(int client)
    {
        return seed * 1_000_003 + client;
    }

    /** The command that repeats the run. */
    String command()
    {
        String faults = kinds.size() == FaultKind.values().length ? "" : " --faults " + kinds.stream().sorted().map(FaultKind::text).collect(Collectors.joining(","));
        return "bin/chaos --minutes %s --seed %s --clients %s%s".formatted(length.toMillis() / 60_000.0, seed, clients, faults);
    }
}
