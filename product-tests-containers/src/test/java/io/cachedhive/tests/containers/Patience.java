package io.cachedhive.tests.containers;

import java.time.Duration;

/**
 * How long the tests wait for a condition before they report that it does not come true.
 *
 * <p>The limit is far above what a loaded machine needs, so that speed decides no test. It only ends a test whose condition never comes true.
 */
final class Patience
{
    static final Duration LIMIT = Duration.ofMinutes(10);
    /**
     * The same as an option of {@code cache-admin}, for each cache worker that a command asks.
     */
    static final String TIMEOUT_OPTION = "--timeout=%ss".formatted(Duration.ofMinutes(2).toSeconds());

    private Patience() {}
}
