package io.cachedhive.worker.storage;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.units.DataSize;
import io.cachedhive.store.StoreConfig;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.NotNull;

import java.nio.file.Path;

import static io.airlift.units.DataSize.Unit.GIGABYTE;

public class RamConfig
{
    private Path directory = Path.of("/dev/shm");
    private DataSize maxSize = DataSize.of(1, GIGABYTE);
    private double guestMaxShare = StoreConfig.DEFAULT_GUEST_MAX_SHARE;

    @NotNull
    public Path getDirectory()
    {
        return directory;
    }

    @Config("cache.ram.directory")
    @ConfigDescription("Directory on tmpfs for the shared-memory file that Trino workers read")
    public RamConfig setDirectory(Path directory)
    {
        this.directory = directory;
        return this;
    }

    @NotNull
    public DataSize getMaxSize()
    {
        return maxSize;
    }

    @Config("cache.ram.max-size")
    @ConfigDescription("Total size of the shared-memory file; allocated at startup")
    public RamConfig setMaxSize(DataSize maxSize)
    {
        this.maxSize = maxSize;
        return this;
    }

    @DecimalMin("0")
    @DecimalMax("1")
    public double getGuestMaxShare()
    {
        return guestMaxShare;
    }

    @Config("cache.guest-max-share")
    @ConfigDescription("Fraction of cache.ram.max-size for guest blocks, which other cache workers own; 0 keeps none")
    public RamConfig setGuestMaxShare(double guestMaxShare)
    {
        this.guestMaxShare = guestMaxShare;
        return this;
    }
}
