package io.cachedhive.admin.fault;

import static java.util.Objects.requireNonNull;

/**
 * Something on a host that is not as it should be.
 *
 * @param sentence what, where, and how to mend it
 */
public record Fault(String host, Kind kind, String sentence)
{
    /// In place of a host.
    public static final String THIS_MACHINE = "this machine";

    public enum Kind
    {
        UNREACHABLE,
        PROGRAM_MISSING,
        JAVA,
        USER,
        PERMISSION,
        DISK_SPACE,
        DIRECTORY,
        SHARED_MEMORY,
        MEMORY,
        PORT,
        CLOCK,
        TRINO,
        NOT_INSTALLED,
        DAMAGED_FILES,
        VERSION_DRIFT,
        CONFIG_DRIFT,
        SECRET,
        PLUGIN,
        CATALOG,
        /// On this machine.
        CONFIGURATION,
        NOT_RUNNING,
        WORKER_PROBLEM
    }

    public Fault
    {
        requireNonNull(host, "host is null");
        requireNonNull(kind, "kind is null");
        requireNonNull(sentence, "sentence is null");
    }
}
