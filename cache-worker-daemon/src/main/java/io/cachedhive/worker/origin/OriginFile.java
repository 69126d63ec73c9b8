package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.inject.spi.Message;
import io.airlift.configuration.ConfigPropertyMetadata;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.configuration.secrets.SecretsResolver;
import io.airlift.configuration.secrets.env.EnvironmentVariableSecretProvider;
import io.airlift.log.Logger;
import io.airlift.spi.secrets.SecretProvider;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.worker.startup.StartupException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import static com.google.common.base.Throwables.getCausalChain;
import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.airlift.configuration.ConfigurationLoader.loadPropertiesFrom;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The properties file of an origin. Every property is applied, ignored because it affects only writes, or rejected by
 * name. Otherwise the worker could read another store, or with other permissions, than the operator expects.
 *
 * @param domain the isolation domain, which catalogs of this origin must have too
 * @param allowedLocations the files that the worker may read
 */
public record OriginFile(String name, Path path, S3OriginConfig config, IsolationDomain domain, AllowedLocations allowedLocations)
{
    private static final Logger log = Logger.get(OriginFile.class);

    private static final Set<String> WRITE_ONLY = ImmutableSet.of("s3.streaming.part-size", "s3.canned-acl", "s3.storage-class", "s3.sse.kms-key-id");
    private static final String EXTENSION = ".properties";

    public OriginFile
    {
        requireNonNull(name, "name is null");
        requireNonNull(path, "path is null");
        requireNonNull(config, "config is null");
        requireNonNull(domain, "domain is null");
        requireNonNull(allowedLocations, "allowedLocations is null");
    }

    public OriginId id()
    {
        return OriginId.of("s3", config.getEndpoint(), config.getRegion(), domain);
    }

    public static boolean isOriginFile(Path path)
    {
        return path.getFileName().toString().endsWith(EXTENSION);
    }

    /**
     * Reads a properties file.
     *
     * @throws StartupException naming the file and all of its problems
     */
    public static OriginFile read(Path path)
    {
        return read(path, new EnvironmentVariableSecretProvider());
    }

    /**
     * Reads a properties file.
     *
     * @param environment values of {@code ${ENV:NAME}}
     * @throws StartupException naming the file and all of its problems
     */
    public static OriginFile read(Path path, SecretProvider environment)
    {
        Map<String, String> properties;
        try {
            properties = loadPropertiesFrom(path.toString());
        }
        catch (IOException e) {
            throw new StartupException("origin file %s cannot be read: %s".formatted(path, e), e);
        }
        String fileName = path.getFileName().toString();
        return parse(fileName.substring(0, fileName.length() - EXTENSION.length()), path, properties, environment);
    }

    private static OriginFile parse(String name, Path path, Map<String, String> properties, SecretProvider environment)
    {
        List<String> problems = new ArrayList<>();
        SecretsResolver secrets = new SecretsResolver(ImmutableMap.of("env", environment));
        Map<String, String> resolved = new HashMap<>(secrets.getResolvedConfiguration(properties, (_, error) -> problems.add(error.getMessage())));

        for (String key : new TreeSet<>(properties.keySet())) {
            if (WRITE_ONLY.contains(key)) {
                log.debug("%s: %s concerns writing only", path, key);
                resolved.remove(key);
            }
            else if (key.equals("s3.security-mapping.enabled") && "false".equalsIgnoreCase(resolved.get(key))) {
                resolved.remove(key);
            }
            else if (key.startsWith("s3.security-mapping.")) {
                problems.add(key + " is not honoured: an identity per user cannot be cached for all of them, remove it");
                resolved.remove(key);
            }
            else if (key.equals("s3.sse.customer-key")) {
                problems.add(key + " is not honoured: data under customer-provided keys is not cached by this worker, remove it");
                resolved.remove(key);
            }
        }

        ConfigurationFactory factory = new ConfigurationFactory(resolved);
        Optional<S3OriginConfig> config = build(factory, S3OriginConfig.class, problems);
        Optional<OriginAccessConfig> access = build(factory, OriginAccessConfig.class, problems);
        AllowedLocations allowedLocations = AllowedLocations.ALL;
        try {
            allowedLocations = AllowedLocations.of(access.map(OriginAccessConfig::getAllowedLocations).orElse(List.of()));
        }
        catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
        }
        Set<String> used = factory.getUsedProperties().stream()
                .map(ConfigPropertyMetadata::name)
                .collect(toImmutableSet());
        for (String key : new TreeSet<>(resolved.keySet())) {
            if (config.isPresent() && access.isPresent() && !used.contains(key)) {
                problems.add(key + " is unknown: only isolation-domain, shared-permissions, allowed-locations and the s3.* properties of Trino's S3 file system "
                        + "have a meaning here, remove it");
            }
        }
        if (!problems.isEmpty()) {
            throw new StartupException("origin file %s: %s".formatted(path, String.join("; ", problems)));
        }
        return new OriginFile(name, path, config.orElseThrow(), domain(access.orElseThrow(), resolved), allowedLocations);
    }

    private static <T> Optional<T> build(ConfigurationFactory factory, Class<T> type, List<String> problems)
    {
        try {
            return Optional.of(factory.build(type));
        }
        catch (RuntimeException e) {
            problems.addAll(messages(e));
            return Optional.empty();
        }
    }

    private static IsolationDomain domain(OriginAccessConfig access, Map<String, String> properties)
    {
        if (access.isSharedPermissions()) {
            return IsolationDomain.NONE;
        }
        return access.getIsolationDomain().map(IsolationDomain::named).orElseGet(() -> IsolationDomain.ofS3(properties));
    }

    private static List<String> messages(RuntimeException e)
    {
        // the exception class of the factory is not public, but it extends Guice's, which has one message per problem
        Optional<List<String>> messages = getCausalChain(e).stream()
                .filter(com.google.inject.ConfigurationException.class::isInstance)
                .map(com.google.inject.ConfigurationException.class::cast)
                .map(exception -> exception.getErrorMessages().stream().map(Message::getMessage).toList())
                .findFirst();
        return messages.orElseGet(() -> List.of(e.getMessage().lines().filter(line -> !line.isBlank()).collect(joining(" "))));
    }
}
