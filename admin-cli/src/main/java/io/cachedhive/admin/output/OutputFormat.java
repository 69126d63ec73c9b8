package io.cachedhive.admin.output;

import java.util.List;

/**
 * How answers are written.
 */
public enum OutputFormat
{
    /// A line per host, sizes and times as people write them.
    TABLE,
    /// An object per host, each on its own line, as the cache workers sent them.
    JSON;

    public AnswersPrinter printer(List<Column> columns)
    {
        return switch (this) {
            case TABLE -> new TablePrinter(columns);
            case JSON -> new JsonPrinter();
        };
    }
}
