package io.cachedhive.chaos.fault;

import io.cachedhive.attack.AttackRunner;
import io.cachedhive.attack.Attacks;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.ProductClient;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.PlannedFault;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;

import static java.util.Objects.requireNonNull;

/**
 * An attack of {@code bin/attack} on a cache worker that serves queries at the same time.
 */
final class AttackFault
{
    // each one costs the attacker and the cache worker memory, and all processes share one machine
    private static final int CONNECTIONS = 64;
    private static final double PROCESSOR_SHARE = 0.2;

    private final String name;
    private final Pressure pressure;

    private AttackFault(String name, Pressure pressure)
    {
        this.name = requireNonNull(name, "name is null");
        this.pressure = requireNonNull(pressure, "pressure is null");
    }

    /**
     * Draws one of the attacks of a kind. Attacks that overload take as long as the fault.
     *
     * @throws IllegalArgumentException if the kind is no attack
     */
    static AttackFault draw(PlannedFault fault, Random random)
    {
        List<String> names = names(fault.kind());
        return new AttackFault(names.get(random.nextInt(names.size())), new Pressure(Duration.ofMillis(fault.lengthMillis()), OptionalInt.of(CONNECTIONS), PROCESSOR_SHARE));
    }

    /** The names of the attacks of a kind. */
    static List<String> names(FaultKind kind)
    {
        return switch (kind) {
            case ATTACKED_BY_STRANGER -> List.of("local-poison", "downgrade", "token-replay");
            case ATTACKED_ON_PATH -> List.of("relay", "flip", "address-reuse");
            case ATTACKED_BY_PEER -> List.of("ring-from-future", "tombstone-from-future", "quota-zero", "reader-flush");
            case ATTACKED_WITH_LOAD -> List.of("stall", "slowloris", "flood", "heap");
            default -> throw new IllegalArgumentException("%s is no attack".formatted(kind.text()));
        };
    }

    /** The name of the attack. */
    String name()
    {
        return name;
    }

    /**
     * Attacks, and checks that the cache worker serves beside the attack and after it.
     *
     * @return one sentence on what the attack achieved; empty if it was refused
     * @throws IOException if the cache worker did not serve before the attack, or the attack could not be made
     */
    Optional<String> run(CacheWorkerHome worker)
            throws IOException, InterruptedException
    {
        try (ProductClient client = new ProductClient(worker.sharedSecret())) {
            return new AttackRunner(Target.of(worker, client, Optional.empty()), pressure).run(Attacks.named(name).orElseThrow());
        }
    }
}
