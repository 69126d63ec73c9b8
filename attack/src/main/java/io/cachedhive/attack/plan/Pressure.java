package io.cachedhive.attack.plan;

import java.time.Duration;
import java.util.OptionalInt;

import static java.util.Objects.requireNonNull;

/**
 * How hard an attack tries.
 *
 * @param duration the length of attacks that overload
 * @param connections the number of connections at the same time; empty for what the attack is known for
 * @param processorShare the attacker's part of one processor
 */
public record Pressure(Duration duration, OptionalInt connections, double processorShare)
{
    /**
     * The short form of every attack.
     */
    public static final Pressure SHORT = new Pressure(Duration.ofSeconds(2), OptionalInt.of(150), 0.2);

    public Pressure
    {
        requireNonNull(duration, "duration is null");
        requireNonNull(connections, "connections is null");
    }
}
