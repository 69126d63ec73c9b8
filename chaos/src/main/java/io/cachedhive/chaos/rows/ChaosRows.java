package io.cachedhive.chaos.rows;

/**
 * The rows of all tables. Each is a function of its file's name, the state of the file, and the row's number, so that a result shows by itself whether it is right:
 * the column {@code payload} is a digest of the other three.
 */
public final class ChaosRows
{
    /** States of a file that is replaced. The first two have the same number of rows, and so have the last two. */
    public static final int STATES = 4;

    /** All columns are text, the only type that CSV has. */
    public static final String COLUMNS = "file_name varchar, state varchar, line varchar, payload varchar";

    private static final String PAYLOAD = "to_hex(sha256(to_utf8(file_name || '/' || state || '/' || line)))";
    // rows are made in hundreds
    private static final int ROUND = 100;

    private ChaosRows() {}

    public static String state(int state)
    {
        return "%04d".formatted(state);
    }

    /** Number of rows of a file in a state. */
    public static int rowCount(int baseRows, int state)
    {
        return state < STATES / 2 ? baseRows : baseRows + Math.max(ROUND, baseRows / 10 / ROUND * ROUND);
    }

    /**
     * A query of the four columns of all rows of a file in a state.
     *
     * @param rows a multiple of 100
     */
    public static String source(String fileName, int state, int rows)
    {
        return """
                SELECT file_name, state, line, %s payload
                FROM (
                    SELECT CAST('%s' AS varchar) file_name, CAST('%s' AS varchar) state, lpad(CAST(h * %s + n AS varchar), 6, '0') line
                    FROM UNNEST(sequence(0, %s)) hundreds (h) CROSS JOIN UNNEST(sequence(0, %s)) numbers (n))
                """.formatted(PAYLOAD, fileName, state(state), ROUND, rows / ROUND - 1, ROUND - 1);
    }

    /**
     * A query that checks each row and returns a row for each file: its path, the number of rows and of different row numbers, the highest row number, the lowest and the
     * highest state, the lowest and the highest file name, and the number of rows that are not what they should be.
     *
     * @param condition on the rows, such as {@code line < '000100'}
     */
    public static String check(String table, String condition)
    {
        return """
                SELECT "$path", count(*), count(DISTINCT line), max(line), min(state), max(state), min(file_name), max(file_name), %s
                FROM %s WHERE %s GROUP BY "$path"
                """.formatted(wrongRows(), table, condition);
    }

    /** The number of rows that are not what they should be: an aggregate. */
    public static String wrongRows()
    {
        return "count_if(payload IS NULL OR payload <> %s)".formatted(PAYLOAD);
    }
}
