package io.cachedhive.chaos.rows;

import java.util.List;

/**
 * What a query saw of a file: a row of {@link ChaosRows#check}.
 */
public record SeenFile(
        String path,
        long rowCount,
        long distinctLines,
        String lastLine,
        State state,
        Name name,
        long wrongRows)
{
    /** The lowest and the highest. */
    public record State(String lowest, String highest) {}

    /** The lowest and the highest. */
    public record Name(String lowest, String highest) {}

    public static SeenFile of(List<Object> row)
    {
        return new SeenFile(
                (String) row.get(0),
                ((Number) row.get(1)).longValue(),
                ((Number) row.get(2)).longValue(),
                (String) row.get(3),
                new State((String) row.get(4), (String) row.get(5)),
                new Name((String) row.get(6), (String) row.get(7)),
                ((Number) row.get(8)).longValue());
    }

    /** The last part of the path. */
    public String key()
    {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
