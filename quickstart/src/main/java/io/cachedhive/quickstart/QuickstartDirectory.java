package io.cachedhive.quickstart;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

import static java.util.Objects.requireNonNull;

/**
 * What a quickstart remembers in its directory from one start to the next.
 */
final class QuickstartDirectory
{
    private static final String SCALE = "scale";
    private static final String S3_ENDPOINT = "s3-endpoint";

    private final Path file;
    private final Properties properties = new Properties();

    private QuickstartDirectory(Path file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    static QuickstartDirectory open(Path directory)
            throws IOException
    {
        QuickstartDirectory result = new QuickstartDirectory(directory.resolve("quickstart.properties"));
        if (Files.exists(result.file)) {
            try (Reader reader = Files.newBufferedReader(result.file)) {
                result.properties.load(reader);
            }
        }
        return result;
    }

    /// Scale of the tables, empty before the first load.
    Optional<String> scale()
    {
        return Optional.ofNullable(properties.getProperty(SCALE));
    }

    void setScale(String scale)
    {
        properties.setProperty(SCALE, scale);
    }

    /// Where the S3 server was the last time. The cache knows files by it.
    Optional<String> s3Endpoint()
    {
        return Optional.ofNullable(properties.getProperty(S3_ENDPOINT));
    }

    void setS3Endpoint(String endpoint)
    {
        properties.setProperty(S3_ENDPOINT, endpoint);
    }

    void save()
            throws IOException
    {
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, "what this quickstart was the last time");
        }
    }
}
