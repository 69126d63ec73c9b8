package io.cachedhive.chaos.rows;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Which states a file had when, by {@link System#nanoTime}. While it is replaced, it has both.
 */
public final class FileHistory
{
    private final String name;
    private final int baseRows;

    @GuardedBy("this")
    private final List<Period> periods = new ArrayList<>();
    @GuardedBy("this")
    private final List<Unsettled> unsettled = new ArrayList<>();

    private record Period(OptionalInt state, long fromNanos, long toNanos) {}

    private record Unsettled(long fromNanos, long toNanos) {}

    /**
     * States that a query may have seen.
     *
     * @param states in the order in which the file had them
     * @param absent whether the file did not exist at some time
     * @param changed whether the file was written or deleted
     * @param lengthChanged whether it had more than one number of rows, or did not exist
     * @param settled whether each reader has to notice that the file was replaced
     */
    public record Possible(List<Integer> states, boolean absent, boolean changed, boolean lengthChanged, boolean settled) {}

    /**
     * @param baseRows rows of the first state
     */
    public FileHistory(String name, int baseRows, int state)
    {
        this.name = name;
        this.baseRows = baseRows;
        periods.add(new Period(OptionalInt.of(state), System.nanoTime(), Long.MAX_VALUE));
    }

    public String name()
    {
        return name;
    }

    public int rowCount(int state)
    {
        return ChaosRows.rowCount(baseRows, state);
    }

    /** The state that the file has or, while it does not exist, had last. */
    public synchronized int state()
    {
        return periods.stream()
                .filter(period -> period.state().isPresent())
                .reduce((_, last) -> last)
                .orElseThrow()
                .state().orElseThrow();
    }

    /** Before the file is written, or deleted if the state is empty. */
    public synchronized void beginChange(OptionalInt state)
    {
        periods.add(new Period(state, System.nanoTime(), Long.MAX_VALUE));
    }

    /** After that. */
    public synchronized void endChange()
    {
        int index = periods.size() - 2;
        Period before = periods.get(index);
        periods.set(index, new Period(before.state(), before.fromNanos(), System.nanoTime()));
    }

    /** From this time to now, readers could not notice that the file was replaced. */
    public synchronized void addUnsettled(long fromNanos)
    {
        unsettled.add(new Unsettled(fromNanos, System.nanoTime()));
    }

    public synchronized Possible between(long fromNanos, long toNanos)
    {
        List<Period> seen = periods.stream()
                .filter(period -> period.fromNanos() - toNanos <= 0 && (period.toNanos() == Long.MAX_VALUE || period.toNanos() - fromNanos >= 0))
                .toList();
        List<Integer> states = seen.stream().filter(period -> period.state().isPresent()).map(period -> period.state().getAsInt()).distinct().toList();
        boolean absent = seen.stream().anyMatch(period -> period.state().isEmpty());
        return new Possible(
                states,
                absent,
                seen.size() > 1,
                absent || states.stream().map(this::rowCount).distinct().count() > 1,
                unsettled.stream().noneMatch(time -> time.fromNanos() - toNanos <= 0 && time.toNanos() - fromNanos >= 0));
    }
}
