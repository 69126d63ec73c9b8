package io.cachedhive.testing.cluster.s3;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/** Where S3Proxy keeps objects on disk: each is a file named by bucket and key, whose time is the object's. */
record ObjectDirectory(Path path)
{
    ObjectDirectory
    {
        requireNonNull(path, "path is null");
    }

    void setLastModified(String bucket, String key, Instant time)
    {
        Path file = path.resolve(bucket).resolve(key);
        checkArgument(Files.isRegularFile(file), "no such object: %s/%s", bucket, key);
        try {
            Files.setLastModifiedTime(file, FileTime.from(time));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
