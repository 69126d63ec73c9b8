package io.cachedhive.attack;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.OwnWorkers;
import io.cachedhive.attack.setting.ProductClient;
import io.cachedhive.testing.cluster.home.Distribution;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes a short form of every attack on real cache workers.
 */
@Timeout(600)
@Tag("slow")
class TestAttacks
{
    @Test
    void testAllAreRefused()
            throws Exception
    {
        Map<String, String> succeeded = new TreeMap<>();
        List<Attack> attacks = Attacks.all();
        try (OwnWorkers workers = OwnWorkers.start(Distribution.find()); ProductClient client = new ProductClient(workers.secret())) {
            AttackRunner runner = new AttackRunner(AttackMain.ownTarget(workers, client), Pressure.SHORT);
            List<String> made = new ArrayList<>();
            for (Attack attack : attacks) {
                assertThat(runner.missing(attack)).as(attack.name()).isEmpty();
                runner.run(attack).ifPresent(sentence -> succeeded.put(attack.name(), sentence));
                made.add(attack.name());
            }
            runner.restart(attacks).ifPresent(sentence -> succeeded.put("restart", sentence));
            assertThat(made).containsExactly(
                    "local-poison", "relay", "flip", "address-reuse", "downgrade",
                    "ring-from-future", "tombstone-from-future", "quota-zero", "reader-flush",
                    "shm-squat", "token-replay",
                    "stall", "slowloris", "flood", "heap");
        }
        assertThat(succeeded).isEmpty();
    }
}
