package io.cachedhive.chaos.rows;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

class TestRowCheck
{
    private static final int BASE_ROWS = 500;
    private static final int MORE_ROWS = ChaosRows.rowCount(BASE_ROWS, 2);

    private final FileHistory history = new FileHistory("small-orc", BASE_ROWS, 0);
    private final long start = System.nanoTime();

    @Test
    void testOneState()
    {
        assertThat(check(seen(0, BASE_ROWS))).isEmpty();
        assertThat(MORE_ROWS).isEqualTo(600);
    }

    @Test
    void testMixedStatesAreFound()
    {
        change(1);
        assertThat(check(seen(0, BASE_ROWS))).isEmpty();
        assertThat(check(seen(1, BASE_ROWS))).isEmpty();
        SeenFile mixed = seen(BASE_ROWS, BASE_ROWS, BASE_ROWS - 1, new SeenFile.State("0000", "0001"), "small-orc", 0);
        assertThat(check(mixed)).singleElement().asString().contains("file small has rows of two states");
    }

    @Test
    void testStateOfAnotherTimeIsFound()
    {
        assertThat(check(seen(1, BASE_ROWS))).singleElement().asString().contains("rows of state 1, but its states at that time were 0");
        change(1);
        long later = System.nanoTime() + 1;
        assertThat(RowCheck.violations(List.of(seen(0, BASE_ROWS)), Map.of("small", history), Integer.MAX_VALUE, later, later + 1))
                .singleElement().asString().contains("rows of state 0, but its states at that time were 1");
    }

    @Test
    void testMissingAndRepeatedRowsAreFound()
    {
        assertThat(check(seen(0, BASE_ROWS - 1))).singleElement().asString().contains("has 499 rows in state 0, not 500");
        assertThat(check(seen(BASE_ROWS, BASE_ROWS - 1, BASE_ROWS - 1, state(0), "small-orc", 0))).hasSize(1);
        // the same number of rows, but not the same ones
        assertThat(check(seen(BASE_ROWS, BASE_ROWS, BASE_ROWS, state(0), "small-orc", 0))).hasSize(1);
        // a part of the rows is right only if the length changed
        change(1);
        assertThat(check(seen(1, BASE_ROWS - 1))).hasSize(1);
        change(2);
        assertThat(check(seen(2, BASE_ROWS))).isEmpty();
        assertThat(check(seen(2, MORE_ROWS))).isEmpty();
        assertThat(check(seen(2, MORE_ROWS + 1))).hasSize(1);
    }

    @Test
    void testDamagedAndForeignRowsAreFound()
    {
        assertThat(check(seen(BASE_ROWS, BASE_ROWS, BASE_ROWS - 1, state(0), "small-orc", 1))).singleElement().asString().contains("1 damaged rows of 500");
        assertThat(check(seen(BASE_ROWS, BASE_ROWS, BASE_ROWS - 1, state(0), "large-orc", 0))).singleElement().asString().contains("rows of another file");
    }

    @Test
    void testMissingFileIsFound()
    {
        assertThat(check()).containsExactly("no row of file small was returned");
        history.beginChange(OptionalInt.empty());
        history.endChange();
        assertThat(check()).isEmpty();
        assertThat(history.state()).isEqualTo(0);
    }

    @Test
    void testUnsettledTime()
    {
        // rows of two states are possible until the flush, damaged rows never are
        change(1);
        history.addUnsettled(start);
        SeenFile mixed = seen(BASE_ROWS, BASE_ROWS, BASE_ROWS - 1, new SeenFile.State("0000", "0001"), "small-orc", 0);
        assertThat(check(mixed)).isEmpty();
        assertThat(check(seen(BASE_ROWS, BASE_ROWS, BASE_ROWS - 1, state(1), "small-orc", 2))).hasSize(1);
        long later = System.nanoTime() + 1;
        assertThat(RowCheck.violations(List.of(mixed), Map.of("small", history), Integer.MAX_VALUE, later, later + 1)).hasSize(1);
    }

    @Test
    void testLimit()
    {
        assertThat(RowCheck.violations(List.of(seen(0, 100)), Map.of("small", history), 100, start, start + 1)).isEmpty();
        assertThat(RowCheck.violations(List.of(seen(0, 99)), Map.of("small", history), 100, start, start + 1)).hasSize(1);
    }

    private void change(int state)
    {
        history.beginChange(OptionalInt.of(state));
        history.endChange();
    }

    private List<String> check(SeenFile... files)
    {
        return RowCheck.violations(List.of(files), Map.of("small", history), Integer.MAX_VALUE, start, System.nanoTime());
    }

    private static SeenFile seen(int state, long rows)
    {
        return seen(rows, rows, rows - 1, state(state), "small-orc", 0);
    }

    private static SeenFile seen(long rows, long distinct, long lastLine, SeenFile.State state, String name, long wrong)
    {
        return new SeenFile("s3://lake/moving/moving_orc/small", rows, distinct, "%06d".formatted(lastLine), state, new SeenFile.Name(name, name), wrong);
    }

    private static SeenFile.State state(int state)
    {
        return new SeenFile.State(ChaosRows.state(state), ChaosRows.state(state));
    }
}
