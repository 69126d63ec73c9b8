package io.cachedhive.trino.mode;

import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorSession;
import io.trino.testing.TestingConnectorSession;
import org.junit.jupiter.api.Test;

import java.time.InstantSource;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestSetCacheModeProcedure
{
    private static final ConnectorSession SESSION = TestingConnectorSession.builder().build();

    private final CacheDecisions decisions = new CacheDecisions("lake", CacheMode.ON, Optional::empty, Optional.empty());
    private final SetCacheModeProcedure procedure = new SetCacheModeProcedure(
            decisions,
            new ProcedureGuard(new CatalogName("lake"), new CachedHiveConfig(), new CacheEvents(InstantSource.system())));

    @Test
    void testModes()
    {
        procedure.setCacheMode(SESSION, "off");
        assertThat(decisions.mode()).isEqualTo(CacheMode.OFF);
        procedure.setCacheMode(SESSION, " READ_ONLY ");
        assertThat(decisions.mode()).isEqualTo(CacheMode.READ_ONLY);
        procedure.setCacheMode(SESSION, "DEFAULT");
        assertThat(decisions.mode()).isEqualTo(CacheMode.ON);
    }

    @Test
    void testUnknownModes()
    {
        assertThatThrownBy(() -> procedure.setCacheMode(SESSION, "")).hasMessage("mode is none of ON, READ_ONLY, SHADOW, OFF, DEFAULT: ");
        assertThatThrownBy(() -> procedure.setCacheMode(SESSION, null)).hasMessage("mode cannot be null");
    }
}
