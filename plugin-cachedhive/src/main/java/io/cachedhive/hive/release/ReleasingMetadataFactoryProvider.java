package io.cachedhive.hive.release;

import com.google.inject.Inject;
import com.google.inject.Injector;
import com.google.inject.Provider;
import com.google.inject.spi.Dependency;
import com.google.inject.spi.InjectionPoint;
import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.cachedhive.trino.release.ReleasingFileSystemFactory;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.plugin.hive.HiveMetadataFactory;
import io.trino.plugin.hive.TransactionalMetadataFactory;

import java.lang.reflect.Constructor;

import static java.util.Objects.requireNonNull;

/**
 * Creates Hive's own metadata factory, with file systems and metastores that notify the cache workers of removed files. All other parts are those that Hive
 * would use, so that reads and writes on workers, for example, use file systems as before.
 */
public final class ReleasingMetadataFactoryProvider
        implements Provider<TransactionalMetadataFactory>
{
    private final Injector injector;
    private final FileReleases releases;
    private final DropFlushes flushes;

    @Inject
    ReleasingMetadataFactoryProvider(Injector injector, FileReleases releases, DropFlushes flushes)
    {
        this.injector = requireNonNull(injector, "injector is null");
        this.releases = requireNonNull(releases, "releases is null");
        this.flushes = requireNonNull(flushes, "flushes is null");
    }

    @Override
    public TransactionalMetadataFactory get()
    {
        InjectionPoint injection = InjectionPoint.forConstructorOf(HiveMetadataFactory.class);
        Object[] arguments = injection.getDependencies().stream().map(this::argument).toArray();
        try {
            return (HiveMetadataFactory) ((Constructor<?>) injection.getMember()).newInstance(arguments);
        }
        catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot create the metadata factory of Hive", e);
        }
    }

    private Object argument(Dependency<?> dependency)
    {
        return switch (injector.getInstance(dependency.getKey())) {
            case TrinoFileSystemFactory fileSystems -> new ReleasingFileSystemFactory(fileSystems, releases);
            case HiveMetastoreFactory metastores -> new ReleasingMetastoreFactory(metastores, releases, flushes);
            case Object other -> other;
        };
    }
}
