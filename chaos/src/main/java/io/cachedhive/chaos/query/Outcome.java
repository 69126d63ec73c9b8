package io.cachedhive.chaos.query;

/**
 * How a query ended.
 */
public enum Outcome
{
    /** All rows are right. */
    RIGHT("right rows"),
    /** It failed because a file was replaced while it was read, and said so. */
    REPLACED("failed: file was replaced"),
    /** It failed as plain Hive does with the same fault. */
    AS_PLAIN("failed as plain Hive"),
    /** The S3 server refused or lost its requests, and plain Hive succeeded later. Whether it would have failed at that moment is unknown. */
    UNDECIDED("failed beside S3 faults"),
    /** A fault of the cache made it fail: plain Hive would have succeeded. */
    FAILED("FAILED BEYOND PLAIN HIVE"),
    /** Wrong rows. */
    WRONG("WRONG ROWS");

    private final String text;

    Outcome(String text)
    {
        this.text = text;
    }

    public String text()
    {
        return text;
    }
}
