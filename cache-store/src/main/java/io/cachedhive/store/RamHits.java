package io.cachedhive.store;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Serves blocks from RAM. Guarded by the store's lock.
 */
final class RamHits
{
    private final Tiers tiers;
    private final RamTier ram;
    private final SsdOffers offers;

    RamHits(Tiers tiers, SsdOffers offers)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.ram = tiers.ram();
        this.offers = requireNonNull(offers, "offers is null");
    }

    /**
     * Returns the block if it is in RAM, and records a hit.
     *
     * @param tier the tier in which the caller found the block
     */
    Optional<PinnedBlock> pin(Digest128 digest, BlockOrigin tier)
    {
        return ram.find(digest).map(frame -> {
            ram.pin(frame);
            offers.request(frame, false);
            return of(frame, tier);
        });
    }

    /**
     * Wraps a frame that the caller has pinned.
     */
    PinnedBlock of(Frame frame, BlockOrigin tier)
    {
        return new FramePin(tiers, frame, frame.file().etagDigest(), tier);
    }
}
