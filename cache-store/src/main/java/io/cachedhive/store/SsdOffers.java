package io.cachedhive.store;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdTier;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Offers blocks in RAM to the SSD tier. Guarded by the store's lock.
 */
final class SsdOffers
{
    private final RamTier ram;
    private final SsdTier ssd;
    private final BlockClasses classes;

    SsdOffers(Tiers tiers, BlockClasses classes)
    {
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.classes = requireNonNull(classes, "classes is null");
    }

    /**
     * Records a request for a block in RAM, and offers the block if SSD admission accepts it.
     *
     * @param first whether the block just entered the cache
     */
    void request(Frame frame, boolean first)
    {
        BlockTerms terms = frame.terms();
        // guests are kept in RAM only
        if (!frame.isGuest() && ssd.request(frame.digest(), frame.file(), frame.length(), terms.blockClass(), first)) {
            offer(frame);
        }
    }

    private void offer(Frame frame)
    {
        ram.hold(frame);
        ssd.offer(new SsdTier.Write(
                frame.digest(),
                frame.file(),
                frame.length(),
                frame.checksum(),
                () -> classes.termsOnSsd(frame),
                ram.payload(frame, frame.length()),
                () -> ram.unpin(frame)));
    }

    /**
     * Offers a block again that found the write queue full.
     *
     * @return whether the block is still in RAM
     */
    boolean offerAgain(Digest128 digest)
    {
        Optional<Frame> frame = ram.find(digest).filter(found -> !found.isGuest());
        frame.ifPresent(this::offer);
        return frame.isPresent();
    }
}
