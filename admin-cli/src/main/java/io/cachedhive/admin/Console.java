package io.cachedhive.admin;

import java.io.PrintWriter;

import static java.util.Objects.requireNonNull;

/**
 * Where the program writes: results to {@code out}, everything else to {@code error}.
 *
 * @param errorIsTerminal whether somebody watches {@code error}, so that a line that is overwritten makes sense
 */
record Console(PrintWriter out, PrintWriter error, boolean errorIsTerminal)
{
    Console
    {
        requireNonNull(out, "out is null");
        requireNonNull(error, "error is null");
    }

    /// One line that the next call overwrites.
    void progress(String text)
    {
        if (errorIsTerminal) {
            error.print("\r" + text + "\033[K");
            error.flush();
        }
    }

    void clearProgress()
    {
        progress("");
        if (errorIsTerminal) {
            error.print("\r");
            error.flush();
        }
    }

    void problem(String sentence)
    {
        error.println("cache-admin: " + sentence);
        error.flush();
    }

    /// A line that stays, beside the results.
    void line(String text)
    {
        error.println(text);
        error.flush();
    }
}
