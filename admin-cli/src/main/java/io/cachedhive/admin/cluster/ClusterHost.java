package io.cachedhive.admin.cluster;

import io.cachedhive.admin.host.WorkerHost;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

import static java.util.Collections.unmodifiableMap;
import static java.util.Objects.requireNonNull;

/**
 * One host of the hosts file with all that holds for it: its own settings over those of its groups over those of all.
 *
 * @param name as the file and ssh know it
 * @param address by which other hosts reach it; without one, what its name resolves to
 * @param bindAddress that its cache worker listens on; without one, the address
 * @param sshUser without one, ssh's configuration decides
 * @param javaHome of the JDK for the cache worker; without one, it is looked for
 * @param runAs user of the cache worker's process
 * @param trinoRunAs user that Trino runs as; without one, the owner of what it writes to
 * @param trinoEtc directory with Trino's {@code config.properties}
 * @param heap of the cache worker's process
 * @param socketGroup group that may use the socket and the shared memory; without one, only the user of the cache worker
 * @param https whether the HTTP API of its cache worker is HTTPS only
 * @param workerProperties further properties of the cache worker, over all others
 */
public record ClusterHost(
        String name,
        Set<Role> roles,
        Set<String> groups,
        Optional<String> address,
        Optional<String> bindAddress,
        Optional<String> sshUser,
        OptionalInt sshPort,
        boolean sudo,
        String installDirectory,
        Optional<String> javaHome,
        Service service,
        String runAs,
        Optional<String> trinoHome,
        Optional<String> trinoRunAs,
        String trinoEtc,
        String pluginDirectory,
        Size ram,
        String ramDirectory,
        Size heap,
        List<SsdDirectory> ssd,
        int workerPort,
        int httpPort,
        boolean https,
        String socketPath,
        Optional<String> socketGroup,
        Optional<String> zone,
        Map<String, String> workerProperties)
{
    /// User of the cache worker where the hosts file names none. The installation creates it.
    public static final String OWN_USER = "cachedhive";
    /// Group of socket and shared memory for this user. The installation creates it, and adds Trino's user to it.
    public static final String OWN_SOCKET_GROUP = "cachedhive-socket";

    public enum Role
    {
        COORDINATOR,
        WORKER
    }

    /// What looks after the process.
    public enum Service
    {
        /// systemd where it runs, else the launcher.
        AUTO,
        SYSTEMD,
        LAUNCHER
    }

    /// Either of a size or of a share of its disk, and all of one host alike.
    ///
    /// @param percentage of the size of the file system, 1 to 100
    public record SsdDirectory(String path, Optional<Size> size, OptionalInt percentage)
    {
        public SsdDirectory
        {
            requireNonNull(path, "path is null");
            if (size.isPresent() == percentage.isPresent()) {
                throw new IllegalArgumentException("size or percentage expected: " + path);
            }
        }

        /// @param diskBytes size of the file system
        public long bytes(long diskBytes)
        {
            return size.map(Size::bytes).orElseGet(() -> diskBytes / 100 * percentage.getAsInt());
        }

        /// As the hosts file has it, for people.
        public String capacity()
        {
            return size.map(value -> "size " + value).orElseGet(() -> "percentage " + percentage.getAsInt());
        }
    }

    public ClusterHost
    {
        requireNonNull(name, "name is null");
        roles = Set.copyOf(roles);
        groups = Set.copyOf(groups);
        ssd = List.copyOf(ssd);
        workerProperties = unmodifiableMap(new LinkedHashMap<>(workerProperties));
    }

    public boolean isWorker()
    {
        return roles.contains(Role.WORKER);
    }

    public boolean isCoordinator()
    {
        return roles.contains(Role.COORDINATOR);
    }

    /// Where this machine reaches its cache worker's HTTP API.
    public WorkerHost http()
    {
        return http(httpPort);
    }

    /// As {@link #http()}, on another port.
    public WorkerHost http(int port)
    {
        return new WorkerHost(address.orElse(name), port, https);
    }

    /// Memory that the cache worker takes beside its RAM tier: heap, direct memory, and what a JVM needs.
    public long daemonBytes()
    {
        return heap.bytes() + (768L << 20);
    }

    @Override
    public String toString()
    {
        return name;
    }
}
