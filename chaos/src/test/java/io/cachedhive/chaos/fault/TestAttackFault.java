package io.cachedhive.chaos.fault;

import io.cachedhive.attack.Attacks;
import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Attack.Need;
import io.cachedhive.chaos.schedule.FaultKind;
import io.cachedhive.chaos.schedule.PlannedFault;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestAttackFault
{
    private static final List<FaultKind> KINDS = List.of(
            FaultKind.ATTACKED_BY_STRANGER,
            FaultKind.ATTACKED_ON_PATH,
            FaultKind.ATTACKED_BY_PEER,
            FaultKind.ATTACKED_WITH_LOAD);

    @Test
    void testAllAttacksOnOtherProcessesAreDrawn()
    {
        List<String> possible = Attacks.all().stream().filter(attack -> !attack.needs().contains(Need.OWN_WORKER)).map(Attack::name).toList();
        assertThat(KINDS.stream().flatMap(kind -> AttackFault.names(kind).stream())).containsExactlyInAnyOrderElementsOf(possible);
        for (FaultKind kind : KINDS) {
            Set<String> drawn = new Random(1).longs(100).mapToObj(seed -> draw(kind, seed)).collect(Collectors.toSet());
            assertThat(drawn).containsExactlyInAnyOrderElementsOf(AttackFault.names(kind));
            // shown by --list
            assertThat(AttackFault.names(kind)).allMatch(name -> kind.description().contains(name));
        }
    }

    @Test
    void testOtherKinds()
    {
        assertThat(Stream.of(FaultKind.values()).filter(FaultKind::isAttack)).containsExactlyElementsOf(KINDS);
        Stream.of(FaultKind.values()).filter(kind -> !KINDS.contains(kind)).forEach(kind ->
                assertThatThrownBy(() -> AttackFault.names(kind)).isInstanceOf(IllegalArgumentException.class).hasMessage(kind.text() + " is no attack"));
    }

    private static String draw(FaultKind kind, long seed)
    {
        return AttackFault.draw(new PlannedFault(1, kind, 0, 1000, 1, seed), new Random(seed)).name();
    }
}
