package io.cachedhive.tests.containers;

/**
 * How a command on a host ended.
 */
record CommandResult(int exitCode, String output, String error)
{
    /**
     * Both streams, for messages.
     */
    String text()
    {
        return "exit code %s%n%s%n%s".formatted(exitCode, output.strip(), error.strip());
    }
}
