package io.cachedhive.store.encryption;

import io.cachedhive.store.block.StoreException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Where the operator's key comes from.
 */
public sealed interface KeySource
{
    int MAX_TEXT_BYTES = 4096;

    /**
     * @throws StoreException if there is no key there; the message is one sentence for the operator
     */
    OperatorKey read()
            throws StoreException;

    /**
     * {@code cache.encryption.key-file}: a file that only its owner and its group may read.
     */
    record OfFile(Path file)
            implements KeySource
    {
        public OfFile
        {
            requireNonNull(file, "file is null");
        }

        @Override
        public OperatorKey read()
                throws StoreException
        {
            try {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
                if (permissions.contains(PosixFilePermission.OTHERS_READ) || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
                    throw new StoreException("Key file %s may be read or written by every user of this host: run 'chmod 0600 %s', and replace the key".formatted(file, file));
                }
                if (Files.size(file) > MAX_TEXT_BYTES) {
                    throw new StoreException("Key file %s has more than %s bytes: name the file with the key".formatted(file, MAX_TEXT_BYTES));
                }
                return OperatorKey.parse(Files.readString(file), "Key file " + file);
            }
            catch (NoSuchFileException e) {
                throw new StoreException("Key file %s does not exist: create it with 'openssl rand -base64 32', or correct its path".formatted(file), e);
            }
            catch (IOException e) {
                throw new StoreException("Key file %s cannot be read (%s): let the user of this process read it".formatted(file, e.getMessage()), e);
            }
        }
    }

    /**
     * {@code cache.encryption.key-environment}: the name of an environment variable.
     */
    record OfEnvironment(String variable)
            implements KeySource
    {
        public OfEnvironment
        {
            requireNonNull(variable, "variable is null");
        }

        @Override
        public OperatorKey read()
                throws StoreException
        {
            String value = System.getenv(variable);
            if (value == null) {
                throw new StoreException("Environment variable %s with the encryption key is not set: set it for this process, or correct its name".formatted(variable));
            }
            return OperatorKey.parse(value, "Environment variable " + variable);
        }
    }

    /**
     * {@code cache.encryption.key-command}: a command of the shell that prints the key.
     */
    record OfCommand(String command, Duration timeout)
            implements KeySource
    {
        public OfCommand
        {
            requireNonNull(command, "command is null");
            requireNonNull(timeout, "timeout is null");
        }

        @Override
        public OperatorKey read()
                throws StoreException
        {
            try {
                Process process = new ProcessBuilder("/bin/sh", "-c", command)
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
                // a key fits into the pipe, so that the process does not wait for a reader
                if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                    process.descendants().forEach(ProcessHandle::destroyForcibly);
                    process.destroyForcibly();
                    throw new StoreException("Key command '%s' did not end within %s s: run it by hand, or correct it".formatted(command, timeout.toSeconds()));
                }
                if (process.exitValue() != 0) {
                    throw new StoreException("Key command '%s' failed with exit code %s: run it by hand, or correct it".formatted(command, process.exitValue()));
                }
                return OperatorKey.parse(new String(process.getInputStream().readNBytes(MAX_TEXT_BYTES), UTF_8), "The output of key command '%s'".formatted(command));
            }
            catch (IOException e) {
                throw new StoreException("Key command '%s' cannot be run (%s): correct it".formatted(command, e.getMessage()), e);
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException("Key command '%s' was interrupted: start the cache worker again".formatted(command), e);
            }
        }
    }
}
