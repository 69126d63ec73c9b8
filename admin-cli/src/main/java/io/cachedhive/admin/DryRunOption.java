package io.cachedhive.admin;

import picocli.CommandLine.Option;

/**
 * Of all commands that change something.
 */
final class DryRunOption
{
    @Option(names = "--dry-run", description = "say what would be changed, and change nothing")
    private boolean dryRun;

    boolean isSet()
    {
        return dryRun;
    }
}
