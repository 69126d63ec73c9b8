package io.cachedhive.chaos.schedule;

import io.cachedhive.chaos.schedule.FaultKind.Target;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestFaultSchedule
{
    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

    @Test
    void testSameSeedGivesSameSchedule()
    {
        List<PlannedFault> faults = draw(7);
        assertThat(draw(7)).isEqualTo(faults);
        assertThat(draw(8)).isNotEqualTo(faults);
        // the order in which the kinds are named does not matter
        assertThat(FaultSchedule.draw(7, Duration.ofMinutes(30), List.copyOf(ALL).reversed(), 3)).isEqualTo(faults);
    }

    @Test
    void testThirtyMinutes()
    {
        for (long seed = 1; seed <= 20; seed++) {
            List<PlannedFault> faults = draw(seed);
            assertThat(faults).hasSizeGreaterThanOrEqualTo(150);
            assertThat(faults.stream().map(PlannedFault::kind)).containsAll(ALL);
            for (PlannedFault fault : faults) {
                assertThat(fault.endMillis()).isLessThanOrEqualTo(Duration.ofMinutes(30).toMillis());
                assertThat(fault.host()).isBetween(1, fault.kind().endsProcess() ? 2 : 3);
                assertThat(fault.lengthMillis()).isBetween(1000L * fault.kind().leastSeconds(), 1000L * fault.kind().mostSeconds());
                List<PlannedFault> active = faults.stream()
                        .filter(other -> other.startMillis() <= fault.startMillis() && other.endMillis() > fault.startMillis())
                        .toList();
                assertThat(active).as("active when %s begins", fault).hasSizeLessThanOrEqualTo(FaultSchedule.MOST_ACTIVE);
            }
        }
    }

    @Test
    void testNoTwoFaultsOfOneThing()
    {
        for (long seed = 1; seed <= 20; seed++) {
            List<PlannedFault> faults = draw(seed);
            for (PlannedFault fault : faults) {
                List<PlannedFault> beside = faults.stream()
                        .filter(other -> other.number() < fault.number() && other.endMillis() > fault.startMillis())
                        .toList();
                switch (fault.kind().target()) {
                    case HOST -> assertThat(beside).noneMatch(other ->
                            other.kind().target() == Target.TWO_HOSTS ||
                                    other.kind().target() == Target.FILE_AND_ALL_HOSTS ||
                                    other.kind().target() == Target.HOST && other.host() == fault.host());
                    case FILE_AND_ALL_HOSTS -> assertThat(beside).noneMatch(other ->
                            Set.of(Target.HOST, Target.TWO_HOSTS, Target.SOCKETS, Target.S3).contains(other.kind().target()));
                    case TRINO, SECRET, CERTIFICATES, S3, MODE -> assertThat(beside).noneMatch(other -> other.kind().target() == fault.kind().target());
                    default -> {}
                }
            }
        }
    }

    @Test
    void testChosenKinds()
    {
        Set<FaultKind> kinds = EnumSet.of(FaultKind.FLUSHED, FaultKind.S3_CUT);
        assertThat(FaultSchedule.draw(1, Duration.ofMinutes(5), kinds, 3)).hasSizeGreaterThan(5)
                .allMatch(fault -> kinds.contains(fault.kind()));
    }

    @Test
    void testNames()
    {
        for (FaultKind kind : FaultKind.values()) {
            assertThat(FaultKind.of(kind.text())).isEqualTo(kind);
        }
        assertThatThrownBy(() -> FaultKind.of("earthquake"))
                .hasMessageStartingWith("unknown kind of fault earthquake: use one of cache-worker-killed, ");
    }

    @Test
    void testLog()
    {
        FaultLog log = new FaultLog();
        long before = System.nanoTime() - 1;
        FaultLog.Begun first = log.begin(FaultKind.S3_CUT);
        first.end();
        long between = System.nanoTime() + 1;
        FaultLog.Begun second = log.begin(FaultKind.FLUSHED);
        second.skip();

        assertThat(log.between(before - 1, before)).isEmpty();
        assertThat(log.between(before, Long.MAX_VALUE / 2)).containsExactly(FaultKind.S3_CUT, FaultKind.FLUSHED);
        assertThat(log.between(between, between + 1_000_000_000_000L)).containsExactly(FaultKind.FLUSHED);
        assertThat(log.counts()).containsOnlyKeys(FaultKind.S3_CUT);
    }

    private static List<PlannedFault> draw(long seed)
    {
        return FaultSchedule.draw(seed, Duration.ofMinutes(30), ALL, 3);
    }
}
