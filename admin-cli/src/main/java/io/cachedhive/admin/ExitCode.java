package io.cachedhive.admin;

/**
 * What the program tells the shell: documented in the help and in {@code docs/operations/}.
 */
final class ExitCode
{
    static final int OK = 0;
    /// At least one host failed or did not answer; what the others did was printed.
    static final int HOST_FAILED = 1;
    static final int WRONG_USAGE = 2;
    /// The hosts file, the package or another file on this machine cannot be used; no host was touched.
    static final int WRONG_CONFIGURATION = 3;
    /// Everything was looked at, and something is not as it should be: of checks and comparisons.
    static final int FOUND = 4;

    private ExitCode() {}
}
