package io.cachedhive.admin;

/**
 * What the program tells the shell: documented in the help and in {@code docs/operations/}.
 */
final class ExitCode
{
    static final int OK = 0;
    /// At least one host did not answer; what the others answered was printed.
    static final int HOST_FAILED = 1;
    static final int WRONG_USAGE = 2;

    private ExitCode() {}
}
