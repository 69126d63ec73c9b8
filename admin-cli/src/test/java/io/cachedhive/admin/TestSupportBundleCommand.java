package io.cachedhive.admin;

import io.cachedhive.admin.settings.HostFile;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TestSupportBundleCommand
{
    @Test
    void testFactsHaveNoDigests()
    {
        HostFile config = new HostFile("/opt/etc/config.properties", HostFile.Reader.CACHE_WORKER, "secret=guess");
        HostFile catalog = new HostFile("/etc/catalog/lake.properties", HostFile.Reader.TRINO, "secret=guess");
        HostFile missing = new HostFile("/etc/catalog/other.properties", HostFile.Reader.TRINO, "secret=guess");
        String facts = """
                current=1.0-0123456789abcdef
                worker.secret=%1$s
                catalog.lake.secret=%1$s
                file:/opt/etc/config.properties=%2$s
                file:/etc/catalog/lake.properties=%1$s
                file:/etc/catalog/other.properties=missing
                file:/etc/catalog/unknown.properties=%1$s
                """.formatted(HostFile.sha256("guess"), config.digest());

        assertThat(SupportBundleCommand.withoutDigests(facts, List.of(config, catalog, missing))).isEqualTo("""
                current=1.0-0123456789abcdef
                file:/opt/etc/config.properties=as configured
                file:/etc/catalog/lake.properties=differs
                file:/etc/catalog/other.properties=missing
                """);
    }
}
