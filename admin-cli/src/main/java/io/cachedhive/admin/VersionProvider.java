package io.cachedhive.admin;

import picocli.CommandLine.IVersionProvider;

import static java.util.Objects.requireNonNullElse;

/**
 * Reads the version of the package from the manifest of its library.
 */
final class VersionProvider
        implements IVersionProvider
{
    @Override
    public String[] getVersion()
    {
        return new String[] {"cache-admin " + requireNonNullElse(CacheAdmin.class.getPackage().getImplementationVersion(), "development")};
    }
}
