package io.cachedhive.worker.fsck;

import com.google.common.collect.ImmutableMap;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.configuration.ConfigurationLoader;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.encryption.KeySource;
import io.cachedhive.store.encryption.OperatorKey;
import io.cachedhive.worker.CacheWorkerConfig;
import io.cachedhive.worker.storage.EncryptionConfig;
import io.cachedhive.worker.storage.RamConfig;
import io.cachedhive.worker.storage.SsdConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

/**
 * The directories and the key of the cache worker that the configuration describes, for the tools that run without it.
 *
 * @param key empty if nothing is to be encrypted
 */
record InstalledStorage(List<Path> ssdDirectories, Path stateDirectory, Path ramDirectory, Optional<KeySource> key)
{
    // kept here: the level of a logger that nobody holds is forgotten
    private static final Logger VALIDATOR_LOG = Logger.getLogger("org.hibernate.validator");

    InstalledStorage
    {
        ssdDirectories = List.copyOf(ssdDirectories);
        requireNonNull(stateDirectory, "stateDirectory is null");
        requireNonNull(ramDirectory, "ramDirectory is null");
        requireNonNull(key, "key is null");
    }

    /**
     * Reads the configuration that the launcher names in the properties {@code config} and {@code node.data-dir}.
     *
     * @return empty if there is no configuration
     * @throws StoreException if it cannot be read
     */
    static Optional<InstalledStorage> find()
            throws StoreException
    {
        String config = System.getProperty("config");
        if (config == null || !Files.exists(Path.of(config))) {
            return Optional.empty();
        }
        return Optional.of(load(Path.of(config), Path.of(requireNonNullElse(System.getProperty("node.data-dir"), ""))));
    }

    /**
     * @param dataDirectory what relative paths in the configuration begin at
     */
    static InstalledStorage load(Path config, Path dataDirectory)
            throws StoreException
    {
        // its version is not what the operator asked for
        VALIDATOR_LOG.setLevel(Level.WARNING);
        try {
            Map<String, String> properties = ImmutableMap.copyOf(ConfigurationLoader.loadPropertiesFrom(config.toString()));
            ConfigurationFactory factory = new ConfigurationFactory(properties);
            EncryptionConfig encryption = factory.build(EncryptionConfig.class);
            encryption.getKeyFile().ifPresent(file -> encryption.setKeyFile(dataDirectory.resolve(file)));
            return new InstalledStorage(
                    factory.build(SsdConfig.class).getDirectories().stream().map(dataDirectory::resolve).collect(toImmutableList()),
                    dataDirectory.resolve(factory.build(CacheWorkerConfig.class).getStateDirectory()),
                    dataDirectory.resolve(factory.build(RamConfig.class).getDirectory()),
                    encryption.toKeySource());
        }
        catch (IOException | RuntimeException e) {
            throw new StoreException("%s cannot be read (%s): correct it, or name another directory with --etc-dir".formatted(config, e.getMessage()), e);
        }
    }

    Optional<OperatorKey> readKey()
            throws StoreException
    {
        return key.isPresent() ? Optional.of(key.get().read()) : Optional.empty();
    }
}
