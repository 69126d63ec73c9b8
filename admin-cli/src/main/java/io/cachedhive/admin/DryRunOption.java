package io.cachedhive.admin;

import picocli.CommandLine.Option;

/**
 * Of all commands that change something.
 */
final class DryRunOption
{
    @Option(names = "--dry-run", description = "show the changes without applying them")
    private boolean dryRun;

    boolean isSet()
    {
        return dryRun;
    }
}
