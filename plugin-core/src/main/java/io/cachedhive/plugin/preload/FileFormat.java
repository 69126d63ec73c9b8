package io.cachedhive.plugin.preload;

/**
 * What is known of how columns lie in a file.
 */
public enum FileFormat
{
    PARQUET,
    ORC,
    /**
     * Whoever reads a column reads all of the file.
     */
    BY_ROW,
}
