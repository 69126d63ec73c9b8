package io.cachedhive.engine;

import io.trino.server.Server;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestCachedTrinoServer
{
    @Test
    void testTrinoOfThisBuildIsTheRightOne()
    {
        assertThat(CachedTrinoServer.checkVersion(Optional.ofNullable(Server.class.getPackage().getImplementationVersion()))).isEmpty();
    }

    @Test
    void testOtherTrinoIsRefused()
    {
        assertThat(CachedTrinoServer.checkVersion(Optional.of("484")))
                .contains("This server extension of cachedhive is made for Trino 483 and found Trino 484:" +
                        " start Trino's own main class in bin/launcher.properties, or install the extension that belongs to this Trino.");
        assertThat(CachedTrinoServer.checkVersion(Optional.of("4830"))).isPresent();
    }

    @Test
    void testOwnBuildOfTrinoIsAccepted()
    {
        for (String version : List.of("483-corp.2", "483.1", "483+17", "483-SNAPSHOT")) {
            assertThat(CachedTrinoServer.checkVersion(Optional.of(version))).as(version).isEmpty();
        }
        for (String version : List.of("483corp", "483-", "482-corp.2", "corp-483")) {
            assertThat(CachedTrinoServer.checkVersion(Optional.of(version))).as(version).isPresent();
        }
    }

    @Test
    void testTrinoWithoutVersionIsRefused()
    {
        assertThat(CachedTrinoServer.checkVersion(Optional.empty()).orElseThrow()).contains("found Trino of unknown version");
    }
}
