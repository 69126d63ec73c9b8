package io.cachedhive.benchmark.ssd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/**
 * Files that the benchmarks read and write past the page cache.
 */
final class DirectFiles
{
    private DirectFiles() {}

    /**
     * Returns the option of the JDK for O_DIRECT. Its only name is in a package for which javac always warns.
     */
    static OpenOption directOption()
    {
        try {
            Class<?> options = Class.forName("com.sun.nio.file.ExtendedOpenOption");
            return (OpenOption) options.getField("DIRECT").get(null);
        }
        catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This JDK has no option for O_DIRECT", e);
        }
    }

    /**
     * @param parent empty for the temporary directory of this machine
     */
    static Path createDirectory(String parent)
            throws IOException
    {
        return parent.isEmpty() ? Files.createTempDirectory("cachedhive-benchmark") : Files.createTempDirectory(Path.of(parent), "cachedhive-benchmark");
    }
}
