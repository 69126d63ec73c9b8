package io.cachedhive.client;

import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Optional;
import java.util.OptionalLong;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.TABLE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What reads say of how their blocks are to be kept reaches the workers that know of it.
 */
class TestReadTerms
{
    private static final FillTerms TERMS = new FillTerms(Optional.of(FillClass.HIGH), OptionalLong.of(60_000));
    private static final FillTerms TTL_ONLY = new FillTerms(Optional.empty(), OptionalLong.of(60_000));

    private ReadFixture fixture;
    private TestingWorker local;
    private CacheClient client;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    private CachedFile open(FillTerms terms)
            throws IOException
    {
        if (client == null) {
            fixture.listen();
            client = fixture.connected(fixture.client());
        }
        return client.open(0, fixture.file, new ReadScope(TABLE, Optional.empty(), true, false, terms, fixture.observer, new DeliveredStates()), fixture.input);
    }

    @Test
    void testRequestCarriesThem()
            throws Exception
    {
        fixture.assertReads(open(TERMS), 10, 20);
        assertThat(local.terms).containsExactly(TERMS);
        fixture.assertReads(open(FillTerms.UNSPECIFIED), 10, 20);
        assertThat(local.terms).hasSize(1);
        assertThat(local.readRequests).hasSize(2);
    }

    @Test
    void testHitsInSharedMemoryAreTold()
            throws Exception
    {
        CachedFile file = open(TERMS);
        local.share(fixture.file, 1, 2);
        fixture.assertReads(file, BLOCK, 2 * BLOCK);
        // in one message, or in two where the time to tell comes between the blocks
        Await.until("reported", () -> local.reclassifications.stream().mapToInt(told -> told.blocks().size()).sum() >= 2);
        assertThat(local.reclassifications).allMatch(told -> told.fillClass() == FillClass.HIGH);
        assertThat(local.reclassifications.stream().flatMap(told -> told.blocks().stream()))
                .containsExactly(fixture.file.id().block(1).digest(), fixture.file.id().block(2).digest());
        assertThat(local.readRequests).isEmpty();
    }

    @Test
    void testHitsOfReadsWithoutAClassAreNot()
            throws Exception
    {
        CachedFile file = open(TTL_ONLY);
        local.share(fixture.file, 1);
        fixture.assertReads(file, BLOCK, BLOCK);
        Await.until("usage", () -> !local.hits.isEmpty());
        assertThat(local.reclassifications).isEmpty();
    }

    private static FillTerms quota(long bytes)
    {
        return new FillTerms(Optional.empty(), OptionalLong.empty(), OptionalLong.of(bytes));
    }

    @Test
    void testQuotaIsToldBeforeTheReadAndWhenItChanges()
            throws Exception
    {
        fixture.assertReads(open(quota(1000)), 10, 20);
        fixture.assertReads(open(quota(1000)), BLOCK, 20);
        assertThat(local.readRequests).hasSize(2);
        assertThat(local.quotas).containsExactly(new TableQuota(TABLE, 1000));
        assertThat(local.terms).as("nothing is said of the blocks").isEmpty();
        fixture.assertReads(open(FillTerms.UNSPECIFIED), 10, 20);
        fixture.assertReads(open(quota(FillTerms.NO_QUOTA)), 10, 20);
        assertThat(local.quotas).containsExactly(new TableQuota(TABLE, 1000), new TableQuota(TABLE, FillTerms.NO_QUOTA));
    }

    @Test
    void testQuotaIsToldByReadsFromSharedMemory()
            throws Exception
    {
        open(FillTerms.UNSPECIFIED);
        local.share(fixture.file, 1);
        fixture.assertReads(open(quota(1000)), BLOCK, BLOCK);
        Await.until("reported", () -> !local.quotas.isEmpty());
        assertThat(local.quotas).containsExactly(new TableQuota(TABLE, 1000));
        assertThat(local.readRequests).isEmpty();
    }
}
