package io.cachedhive.worker.origin;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;

public class OriginsConfig
{
    private Path directory = Path.of("etc/origins");

    @NotNull
    public Path getDirectory()
    {
        return directory;
    }

    @Config("cache.origins-directory")
    @ConfigDescription("Directory with a file NAME.properties for each object store")
    public OriginsConfig setDirectory(Path directory)
    {
        this.directory = directory;
        return this;
    }
}
