package io.cachedhive.tests.containers;

import io.trino.spi.Plugin;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.BasicPrincipal;
import io.trino.spi.security.PasswordAuthenticator;
import io.trino.spi.security.PasswordAuthenticatorFactory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * A plugin of Trino that checks passwords by the lines {@code user:password} of a file. Trino's own, which is in its tarball, is not in Maven Central.
 */
public final class PasswordLinesPlugin
        implements Plugin, PasswordAuthenticatorFactory, PasswordAuthenticator
{
    static final String NAME = "lines";
    static final String FILE = "lines.file";

    private Path file;

    @Override
    public Iterable<PasswordAuthenticatorFactory> getPasswordAuthenticatorFactories()
    {
        return List.of(this);
    }

    @Override
    public String getName()
    {
        return NAME;
    }

    @Override
    public PasswordAuthenticator create(Map<String, String> config)
    {
        file = Path.of(requireNonNull(config.get(FILE), FILE));
        return this;
    }

    @Override
    public Principal createAuthenticatedPrincipal(String user, String password)
    {
        try {
            if (!Files.readAllLines(file).contains(user + ":" + password)) {
                throw new AccessDeniedException("Invalid credentials");
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BasicPrincipal(user);
    }
}
