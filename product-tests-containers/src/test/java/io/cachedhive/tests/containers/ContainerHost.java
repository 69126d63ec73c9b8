package io.cachedhive.tests.containers;

import com.github.dockerjava.api.model.Capability;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static com.google.common.collect.Iterables.getOnlyElement;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A container that stands for a host: its own network address, users, file system and shared memory, and sshd as its only process.
 * There is no systemd in it.
 */
final class ContainerHost
        implements AutoCloseable
{
    /**
     * Made by {@code product-tests/run} where it cannot be pulled.
     */
    static final String IMAGE = "cachedhive/test-host:bookworm";

    /**
     * System property with the name of this run of {@code product-tests/run}, which removes what has it as its label and is left over.
     */
    static final String RUN_PROPERTY = "cachedhive.test.run";
    static final String RUN_LABEL = "io.cachedhive.run";

    // each host has keys of its own, as made by the installation of a machine
    private static final String BOOT = "mkdir -p /run/sshd && rm -f /etc/ssh/ssh_host_* && ssh-keygen -q -A && exec /usr/sbin/sshd -D -e";

    private final String name;
    private final GenericContainer<?> container;

    private ContainerHost(String name, GenericContainer<?> container)
    {
        this.name = requireNonNull(name, "name is null");
        this.container = requireNonNull(container, "container is null");
    }

    static Builder builder(Network network, String name)
    {
        return new Builder(network, name);
    }

    String name()
    {
        return name;
    }

    /**
     * The address in the network of the hosts, which this machine reaches too.
     */
    String address()
    {
        return getOnlyElement(container.getContainerInfo().getNetworkSettings().getNetworks().values()).getIpAddress();
    }

    /**
     * Runs a shell script as root, and waits for its end.
     */
    CommandResult run(String script)
    {
        try {
            ExecResult result = container.execInContainer(UTF_8, "bash", "-c", script);
            return new CommandResult(result.getExitCode(), result.getStdout(), result.getStderr());
        }
        catch (IOException e) {
            throw new IllegalStateException("host %s does not run commands: %s".formatted(name, e.getMessage()), e);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /**
     * As {@link #run}, for what must not fail.
     *
     * @return what the script wrote to its standard output
     */
    String mustRun(String script)
    {
        CommandResult result = run(script);
        if (result.exitCode() != 0) {
            throw new AssertionError("on host %s: %s%n%s".formatted(name, script, result.text()));
        }
        return result.output();
    }

    /**
     * Writes a file of root's that all may read; directories above it are made.
     */
    void write(String path, String text)
    {
        container.copyFileToContainer(Transferable.of(text, 0644), path);
    }

    /**
     * Drops silently what comes from the other host, as a broken switch does. Cut both hosts off one another to cut the connection between them.
     *
     * @param match further conditions of iptables(8), such as {@code -p tcp --dport 8484}; may be empty
     */
    void dropFrom(ContainerHost other, String match)
    {
        mustRun("iptables -w -A INPUT -s %s %s -j DROP".formatted(other.address(), match));
    }

    /**
     * Takes back all that {@link #dropFrom} did on this host.
     */
    void dropNothing()
    {
        mustRun("iptables -w -F INPUT");
    }

    /**
     * Takes the host away with all that is in it.
     */
    @Override
    public void close()
    {
        container.stop();
    }

    @Override
    public String toString()
    {
        return name;
    }

    static final class Builder
    {
        private final String name;
        private final GenericContainer<?> container;

        private Builder(Network network, String name)
        {
            this.name = requireNonNull(name, "name is null");
            container = new GenericContainer<>(IMAGE)
                    .withNetwork(network)
                    .withNetworkAliases(name)
                    .withLabel(RUN_LABEL, System.getProperty(RUN_PROPERTY, "none"))
                    .withCommand("bash", "-c", BOOT)
                    .withCreateContainerCmdModifier(command -> command.withHostName(name));
        }

        /**
         * Shows a directory of this machine to the host under the same path, which it may not write to.
         */
        Builder readOnly(Path directory)
        {
            return readOnly(directory, directory.toString());
        }

        Builder readOnly(Path directory, String path)
        {
            container.withFileSystemBind(directory.toString(), path, BindMode.READ_ONLY);
            return this;
        }

        Builder writable(Path directory, String path)
        {
            container.withFileSystemBind(directory.toString(), path, BindMode.READ_WRITE);
            return this;
        }

        /**
         * A small disk of its own at a path.
         */
        Builder disk(String path, int megabytes)
        {
            container.withTmpFs(Map.of(path, "rw,exec,size=%sm".formatted(megabytes)));
            return this;
        }

        /**
         * @param memoryMegabytes of all processes, as a cgroup limits it
         * @param sharedMegabytes size of /dev/shm
         */
        Builder memory(int memoryMegabytes, int sharedMegabytes)
        {
            container.withSharedMemorySize((long) sharedMegabytes << 20);
            container.withCreateContainerCmdModifier(command -> command.getHostConfig().withMemory((long) memoryMegabytes << 20));
            return this;
        }

        /**
         * Lets the host change its firewall.
         */
        Builder ownFirewall()
        {
            container.withCreateContainerCmdModifier(command -> command.getHostConfig().withCapAdd(Capability.NET_ADMIN));
            return this;
        }

        ContainerHost start()
        {
            container.start();
            return new ContainerHost(name, container);
        }
    }

    /**
     * Commands for {@link #run}, one after the other as long as none fails.
     */
    static String steps(List<String> commands)
    {
        return "set -e\n" + String.join("\n", commands);
    }
}
