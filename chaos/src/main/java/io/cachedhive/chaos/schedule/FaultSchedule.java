package io.cachedhive.chaos.schedule;

import io.cachedhive.chaos.schedule.FaultKind.Target;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Draws all faults of a run from its seed, before the run.
 * <p>
 * Each kind comes once before any comes a second time. At most {@link #MOST_ACTIVE} faults are active at the same time, and two that concern the same thing never are.
 */
public final class FaultSchedule
{
    public static final int MOST_ACTIVE = 3;

    private static final long FIRST_START_MILLIS = 5_000;
    private static final int LEAST_GAP_MILLIS = 2_000;
    private static final int MOST_GAP_MILLIS = 10_000;
    // a process that was killed needs a while until it is back
    private static final long RECOVERY_MILLIS = 4_000;

    private FaultSchedule() {}

    /**
     * @param kinds that may be drawn
     * @param hosts number of hosts
     */
    public static List<PlannedFault> draw(long seed, Duration length, Collection<FaultKind> kinds, int hosts)
    {
        checkArgument(!kinds.isEmpty(), "kinds is empty");
        checkArgument(hosts >= 3, "hosts is less than 3: %s", hosts);
        Random random = new Random(seed);
        List<PlannedFault> faults = new ArrayList<>();
        List<FaultKind> deck = new ArrayList<>();
        long start = FIRST_START_MILLIS;
        while (true) {
            if (deck.isEmpty()) {
                deck.addAll(kinds.stream().sorted().distinct().toList());
                Collections.shuffle(deck, random);
            }
            FaultKind kind = deck.removeLast();
            // the processes of the last host live as long as the run, so that something can be said about their growth
            int host = 1 + random.nextInt(kind.endsProcess() ? hosts - 1 : hosts);
            long lengthMillis = 1000L * kind.leastSeconds() + random.nextInt(1000 * (kind.mostSeconds() - kind.leastSeconds()) + 1);
            PlannedFault fault;
            while (true) {
                fault = new PlannedFault(faults.size() + 1, kind, start, lengthMillis, host, random.nextLong());
                long earliest = earliestStart(fault, faults);
                if (earliest <= start) {
                    break;
                }
                start = earliest;
            }
            if (fault.endMillis() > length.toMillis()) {
                return List.copyOf(faults);
            }
            faults.add(fault);
            start += LEAST_GAP_MILLIS + random.nextInt(MOST_GAP_MILLIS - LEAST_GAP_MILLIS);
        }
    }

    private static long earliestStart(PlannedFault fault, List<PlannedFault> earlier)
    {
        long start = fault.startMillis();
        List<Long> ends = new ArrayList<>();
        for (PlannedFault other : earlier) {
            if (other.endMillis() > fault.startMillis()) {
                ends.add(other.endMillis());
            }
            if (conflict(fault, other)) {
                start = Math.max(start, other.endMillis() + RECOVERY_MILLIS);
            }
        }
        if (ends.size() >= MOST_ACTIVE) {
            start = Math.max(start, Collections.min(ends));
        }
        return start;
    }

    private static boolean conflict(PlannedFault left, PlannedFault right)
    {
        return conflict(left, right.kind().target(), right.host()) || conflict(right, left.kind().target(), left.host());
    }

    private static boolean conflict(PlannedFault fault, Target other, int host)
    {
        return switch (fault.kind().target()) {
            case HOST -> other == Target.HOST && fault.host() == host;
            case TWO_HOSTS -> other == Target.HOST || other == Target.TWO_HOSTS;
            case SOCKETS -> other == Target.SOCKETS && fault.host() == host;
            // a flush has to reach all cache workers
            case FILE_AND_ALL_HOSTS -> switch (other) {
                case HOST, TWO_HOSTS, SOCKETS, S3, FILE_AND_ALL_HOSTS -> true;
                default -> false;
            };
            case TRINO, SECRET, CERTIFICATES, S3, PRELOAD, PIN, MODE, RULES -> other == fault.kind().target();
            // which file it is, is drawn when the fault begins
            case FILE, NOTHING -> false;
        };
    }
}
