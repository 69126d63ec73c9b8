package io.cachedhive.plugin.mode;

import io.cachedhive.protocol.wire.FillClass;
import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

class TestCacheDecisions
{
    private final AtomicReference<Optional<CacheMode>> ruled = new AtomicReference<>(Optional.empty());
    private final CacheDecisions decisions = new CacheDecisions("lake", CacheMode.ON, ruled::get, Optional.empty());

    @Test
    void testWhoDecides()
    {
        assertThat(decisions.mode()).isEqualTo(CacheMode.ON);
        assertThat(decisions.problem()).isEmpty();
        ruled.set(Optional.of(CacheMode.READ_ONLY));
        assertThat(decisions.mode()).isEqualTo(CacheMode.READ_ONLY);
        assertThat(decisions.problem()).hasValue("catalog lake fetches nothing into the cache, because its mode is READ_ONLY: change it in the rules file");
        decisions.setMode(Optional.of(CacheMode.OFF));
        assertThat(decisions.mode()).isEqualTo(CacheMode.OFF);
        assertThat(decisions.problem()).hasValue("catalog lake is read without the cache, because its mode is OFF: CALL system.set_cache_mode('ON') ends that");
        ruled.set(Optional.empty());
        assertThat(decisions.mode()).isEqualTo(CacheMode.OFF);
        decisions.setMode(Optional.empty());
        assertThat(decisions.mode()).isEqualTo(CacheMode.ON);
    }

    @Test
    void testDecisions()
    {
        assertThat(decisions.decide(true)).hasValue(CacheDecision.CACHE);
        assertThat(decisions.decide(false)).isEmpty();
        decisions.setMode(Optional.of(CacheMode.READ_ONLY));
        assertThat(decisions.decide(true)).hasValueSatisfying(decision -> {
            assertThat(decision.bypass()).isFalse();
            assertThat(decision.fill()).isFalse();
            assertThat(decision.shadow()).isFalse();
        });
        decisions.setMode(Optional.of(CacheMode.SHADOW));
        assertThat(decisions.decide(true)).hasValue(CacheDecision.SHADOW);
        assertThat(decisions.mayCache()).isTrue();
        decisions.setMode(Optional.of(CacheMode.OFF));
        assertThat(decisions.decide(true)).isEmpty();
        assertThat(decisions.mayCache()).isFalse();
    }

    @Test
    void testRulesWithinModes()
    {
        CacheDecision high = CacheDecision.cache(Optional.of(FillClass.HIGH), OptionalLong.of(5));
        assertThat(high.within(CacheDecision.CACHE)).isEqualTo(high);
        assertThat(high.within(CacheDecision.CACHE.withoutFill())).isEqualTo(high.withoutFill());
        assertThat(high.within(CacheDecision.SHADOW)).isEqualTo(CacheDecision.SHADOW);
        assertThat(CacheDecision.BYPASS.within(CacheDecision.SHADOW)).isEqualTo(CacheDecision.BYPASS);
        assertThat(CacheDecision.BYPASS.within(CacheDecision.CACHE)).isEqualTo(CacheDecision.BYPASS);
    }

    @Test
    void testPermissionsComeFirst()
    {
        CacheDecisions personal = new CacheDecisions("lake", CacheMode.SHADOW, Optional::empty, Optional.of("permissions"));
        assertThat(personal.problem()).hasValue("permissions");
        assertThat(personal.decide(true)).isEmpty();
        assertThat(personal.mayCache()).isFalse();
    }
}
