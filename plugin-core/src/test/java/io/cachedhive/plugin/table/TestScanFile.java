package io.cachedhive.plugin.table;

import io.cachedhive.protocol.file.FileVersion;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestScanFile
{
    /**
     * Iceberg's first split of a Parquet file begins at 4, of an ORC file at 3, and of an Avro file at 0.
     */
    @Test
    void testFirstSplitBeginsBehindTheMagicNumber()
    {
        for (int start : new int[] {0, 3, 4}) {
            assertThat(split(start, 1000 - start).isFirst()).isTrue();
            assertThat(split(start, 1000 - start).isWholeFile()).isTrue();
            assertThat(split(start, 500).isFirst()).isTrue();
            assertThat(split(start, 500).isWholeFile()).isFalse();
        }
        assertThat(split(5, 995).isFirst()).isFalse();
        assertThat(split(5, 995).isWholeFile()).isFalse();
    }

    private static ScanFile split(long start, long length)
    {
        return new ScanFile("s3://lake/file", start, length, 1000, FileVersion.IMMUTABLE, Map.of());
    }
}
