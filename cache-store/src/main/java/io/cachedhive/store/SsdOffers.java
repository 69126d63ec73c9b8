package io.cachedhive.store;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdTier;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Offers blocks that are in RAM to the SSD. Guarded by the store's lock.
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
     * A block that is in RAM was asked for: if it is not on SSD, it may have become worth being written there.
     *
     * @param first whether it just came into the cache
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
     * A block that came while too many others waited to be written.
     *
     * @return whether it is still here
     */
    boolean offerAgain(Digest128 digest)
    {
        Optional<Frame> frame = ram.find(digest).filter(found -> !found.isGuest());
        frame.ifPresent(this::offer);
        return frame.isPresent();
    }
}
