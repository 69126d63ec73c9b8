package io.cachedhive.plugin.connector;

import io.cachedhive.plugin.context.CacheDecision;
import io.cachedhive.plugin.context.CacheMode;
import io.cachedhive.protocol.wire.FillClass;
import io.trino.spi.connector.ConnectorSession;
import io.trino.testing.TestingConnectorSession;
import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestCacheDecisions
{
    private static final ConnectorSession SESSION = TestingConnectorSession.builder()
            .setPropertyMetadata(new CacheSessionProperties(new CachedHiveConfig()).getSessionProperties())
            .build();

    private final AtomicReference<Optional<CacheMode>> ruled = new AtomicReference<>(Optional.empty());
    private final CacheDecisions decisions = new CacheDecisions("lake", CacheMode.ON, ruled::get, Optional.empty());
    private final SetCacheModeProcedure procedure = new SetCacheModeProcedure(decisions);

    @Test
    void testWhoDecides()
    {
        assertThat(decisions.mode()).isEqualTo(CacheMode.ON);
        assertThat(decisions.problem()).isEmpty();
        ruled.set(Optional.of(CacheMode.READ_ONLY));
        assertThat(decisions.mode()).isEqualTo(CacheMode.READ_ONLY);
        assertThat(decisions.problem()).hasValue("catalog lake fetches nothing into the cache, because its mode is READ_ONLY: change it in the rules file");
        procedure.setCacheMode(SESSION, "off");
        assertThat(decisions.mode()).isEqualTo(CacheMode.OFF);
        assertThat(decisions.problem()).hasValue("catalog lake is read without the cache, because its mode is OFF: CALL system.set_cache_mode('ON') ends that");
        ruled.set(Optional.empty());
        assertThat(decisions.mode()).isEqualTo(CacheMode.OFF);
        procedure.setCacheMode(SESSION, "DEFAULT");
        assertThat(decisions.mode()).isEqualTo(CacheMode.ON);
        assertThatThrownBy(() -> procedure.setCacheMode(SESSION, "")).hasMessage("mode is none of ON, READ_ONLY, SHADOW, OFF, DEFAULT: ");
        assertThatThrownBy(() -> procedure.setCacheMode(SESSION, null)).hasMessage("mode cannot be null");
    }

    @Test
    void testDecisions()
    {
        assertThat(decisions.decide(SESSION)).hasValue(CacheDecision.CACHE);
        procedure.setCacheMode(SESSION, "READ_ONLY");
        assertThat(decisions.decide(SESSION)).hasValueSatisfying(decision -> {
            assertThat(decision.bypass()).isFalse();
            assertThat(decision.fill()).isFalse();
            assertThat(decision.shadow()).isFalse();
        });
        procedure.setCacheMode(SESSION, "SHADOW");
        assertThat(decisions.decide(SESSION)).hasValue(CacheDecision.SHADOW);
        assertThat(decisions.mayCache()).isTrue();
        procedure.setCacheMode(SESSION, "OFF");
        assertThat(decisions.decide(SESSION)).isEmpty();
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
        assertThat(personal.decide(SESSION)).isEmpty();
        assertThat(personal.mayCache()).isFalse();
    }
}
