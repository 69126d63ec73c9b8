package io.cachedhive.plugin.origin;

import io.cachedhive.protocol.file.IsolationDomain;
import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestSharedDomains
{
    private static final IsolationDomain FINANCE = IsolationDomain.named("finance");

    private final SharedDomains domains = new SharedDomains();

    private static FileOrigins origins(String accessKey, Optional<IsolationDomain> domain)
    {
        return FileOrigins.of(
                "lake",
                Map.of("fs.s3.enabled", "true", "s3.endpoint", "http://s3:9000", "s3.aws-access-key", accessKey, "s3.aws-secret-key", "secret-of-" + accessKey),
                domain,
                false);
    }

    @Test
    void testOtherCredentialsOfOneDomain()
    {
        assertThat(domains.add("node", "one", origins("AKIAOFTHEFIRSTCATALOG", Optional.of(FINANCE)))).isEmpty();
        assertThat(domains.add("node", "two", origins("AKIAOFTHESECONDCATALOG", Optional.of(FINANCE)))).singleElement().asString()
                .startsWith("catalogs one and two share cached bytes (isolation domain finance) but have different credentials")
                .doesNotContain("AKIA", "secret");
        assertThat(domains.add("node", "three", origins("AKIAOFTHETHIRDCATALOG", Optional.of(FINANCE)))).hasSize(2);
    }

    @Test
    void testSharedPermissions()
    {
        assertThat(domains.add("node", "one", origins("one", Optional.of(IsolationDomain.NONE)))).isEmpty();
        assertThat(domains.add("node", "two", origins("two", Optional.of(IsolationDomain.NONE)))).singleElement().asString()
                .contains("(no isolation domain)", "cachedhive.shared-permissions");
    }

    @Test
    void testNothingToReport()
    {
        assertThat(domains.add("node", "one", origins("one", Optional.of(FINANCE)))).isEmpty();
        assertThat(domains.add("node", "same", origins("one", Optional.of(FINANCE)))).as("the same credentials").isEmpty();
        assertThat(domains.add("node", "two", origins("two", Optional.empty()))).as("a domain of its own").isEmpty();
        assertThat(domains.add("node", "hr", origins("hr", Optional.of(IsolationDomain.named("hr"))))).as("another domain").isEmpty();
        assertThat(domains.add("other", "two", origins("two", Optional.of(FINANCE)))).as("another node of the process").isEmpty();
    }

    @Test
    void testCatalogsThatWereDroppedOrReplaced()
    {
        FileOrigins first = origins("one", Optional.of(FINANCE));
        domains.add("node", "one", first);
        domains.remove("node", "one", first);
        assertThat(domains.add("node", "two", origins("two", Optional.of(FINANCE)))).isEmpty();
        // recreated before the earlier one is shut down
        domains.add("node", "one", first);
        domains.add("node", "one", origins("two", Optional.of(FINANCE)));
        domains.remove("node", "one", first);
        assertThat(domains.add("node", "three", origins("three", Optional.of(FINANCE)))).hasSize(2);
    }
}
