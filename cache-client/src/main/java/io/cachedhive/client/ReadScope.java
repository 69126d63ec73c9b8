package io.cachedhive.client;

import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FillTerms;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * On whose behalf a file is read.
 *
 * @param table {@code schema.table}, for the counters and the policy
 * @param epoch the ring by which the scan was planned; the newest known stands in for an unknown one
 * @param mayFill whether blocks that are missing shall be fetched and kept
 * @param fillsAsGuests whether blocks that an owner on another host fetches for the read are offered to this host's worker, as those are that it has
 * @param terms on which the blocks are to be kept
 * @param observer counts the scan's reads by source
 * @param delivered which state of each file the split was given bytes of; one for all files that a split opens
 */
public record ReadScope(
        String table,
        Optional<RingEpoch> epoch,
        boolean mayFill,
        boolean fillsAsGuests,
        FillTerms terms,
        ReadObserver observer,
        DeliveredStates delivered)
{
    public ReadScope
    {
        requireNonNull(table, "table is null");
        requireNonNull(epoch, "epoch is null");
        requireNonNull(terms, "terms is null");
        requireNonNull(observer, "observer is null");
        requireNonNull(delivered, "delivered is null");
    }

    /**
     * Of a file by itself, without terms on which its blocks are to be kept.
     */
    public ReadScope(String table, Optional<RingEpoch> epoch, boolean mayFill, ReadObserver observer)
    {
        this(table, epoch, mayFill, false, FillTerms.UNSPECIFIED, observer, new DeliveredStates());
    }
}
