package io.cachedhive.store;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.StoredFile;
import io.cachedhive.store.ram.Frame;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.SsdBlock;
import io.cachedhive.store.ssd.SsdTier;

import java.util.Optional;
import java.util.function.Predicate;

/**
 * Decides the class of blocks: the requested one, pinned if the file is pinned by name, and high instead of pinned when
 * the limit on pinned bytes is reached. Guarded by the store's lock, except {@link #pinByName}.
 */
final class BlockClasses
{
    private final RamTier ram;
    private final SsdTier ssd;
    private final boolean aboveSsd;
    private final double pinnedMaxShare;

    // selects the files pinned by name; empty means none
    private volatile Optional<Predicate<FileVersion>> pins = Optional.empty();
    private long rejectedPins;
    // whether the limit kept blocks of files pinned by name from being pinned
    private boolean pinsWait;

    /**
     * @param pinnedMaxShare limit on pinned bytes, as a fraction of the tier that keeps pinned blocks
     */
    BlockClasses(Tiers tiers, double pinnedMaxShare)
    {
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.aboveSsd = tiers.isAboveSsd();
        this.pinnedMaxShare = pinnedMaxShare;
    }

    /**
     * Sets the files pinned by name.
     */
    void pinByName(Predicate<FileVersion> pinned)
    {
        pins = Optional.of(pinned);
    }

    /**
     * Returns the test for files pinned by name; always false until it is set.
     */
    Predicate<FileVersion> pinnedByName()
    {
        return pins.orElse(_ -> false);
    }

    boolean isPinnedByName(StoredFile file)
    {
        return pins.filter(pinned -> pinned.test(file.version())).isPresent();
    }

    /**
     * Returns the pinned bytes in the tier that keeps pinned blocks.
     */
    long pinnedBytes()
    {
        return aboveSsd ? ssd.pinnedBytes() : ram.pinnedBytes();
    }

    /**
     * Returns the limit on {@link #pinnedBytes}.
     */
    long maxPinnedBytes()
    {
        return (long) (pinnedMaxShare * (aboveSsd ? ssd.capacityBytes() : ram.frameBytes()));
    }

    /**
     * Counts a block of the file that the limit keeps from being pinned.
     */
    void refusePin(StoredFile file)
    {
        rejectedPins++;
        pinsWait |= isPinnedByName(file);
    }

    /**
     * Returns the number of blocks that the limit kept from being pinned.
     */
    long rejectedPins()
    {
        return rejectedPins;
    }

    /**
     * Returns whether blocks wait to be pinned and the given number of bytes fits below the limit. If so, clears the
     * waiting mark: the caller retries all of them.
     */
    boolean takePinsWait(long bytes)
    {
        boolean again = pinsWait && pinnedBytes() + bytes <= maxPinnedBytes();
        if (again) {
            pinsWait = false;
        }
        return again;
    }

    /**
     * Marks that some blocks of files pinned by name are not pinned yet.
     */
    void setPinsWait()
    {
        pinsWait = true;
    }

    /**
     * Returns the class of a block in the tier that keeps pinned blocks.
     */
    Optional<BlockClass> keptClass(Digest128 digest)
    {
        return aboveSsd ?
                ssd.find(digest).map(block -> block.terms().blockClass()) :
                ram.find(digest).map(frame -> frame.terms().blockClass());
    }

    /**
     * Gives a block the class that a read or a call requests.
     */
    void request(Digest128 digest, BlockClass blockClass)
    {
        boolean pinned = blockClass != BlockClass.PINNED && pins.isPresent() && fileOf(digest).filter(this::isPinnedByName).isPresent();
        setClass(digest, pinned ? BlockClass.PINNED : blockClass);
    }

    private Optional<StoredFile> fileOf(Digest128 digest)
    {
        return ram.find(digest).map(Frame::file).or(() -> ssd.find(digest).map(SsdBlock::file));
    }

    /**
     * Sets the class of this worker's own block in both tiers, within the limit on pinned bytes.
     *
     * @return false if the journal is full, so that the block keeps its class on SSD
     */
    boolean setClass(Digest128 digest, BlockClass blockClass)
    {
        Optional<Frame> frame = ram.find(digest).filter(found -> !found.isGuest());
        Optional<SsdBlock> onSsd = ssd.find(digest);
        Optional<BlockClass> kept = aboveSsd ? onSsd.map(block -> block.terms().blockClass()) : frame.map(found -> found.terms().blockClass());
        int length = onSsd.map(SsdBlock::length).or(() -> frame.map(Frame::length)).orElse(0);
        BlockClass granted = blockClass;
        if (blockClass == BlockClass.PINNED && kept.filter(before -> before != BlockClass.PINNED).isPresent() && pinnedBytes() + length > maxPinnedBytes()) {
            granted = BlockClass.HIGH;
            if (kept.get() != BlockClass.HIGH) {
                rejectedPins++;
            }
            pinsWait |= onSsd.map(SsdBlock::file).or(() -> frame.map(Frame::file)).filter(this::isPinnedByName).isPresent();
        }
        if (frame.isPresent() && frame.get().terms().blockClass() != granted) {
            ram.setClass(frame.get(), granted);
        }
        ssd.setClass(digest, granted);
        BlockClass wanted = granted;
        return ssd.find(digest).filter(block -> block.terms().blockClass() != wanted).isEmpty();
    }

    /**
     * Corrects the class of a block just published. During the fill, the file may have been pinned, or other blocks may
     * have used up the limit on pinned bytes.
     */
    void settle(Frame frame)
    {
        BlockClass blockClass = frame.terms().blockClass();
        if (!frame.holdsBlock() || blockClass == BlockClass.GUEST) {
            return;
        }
        if (blockClass != BlockClass.PINNED && isPinnedByName(frame.file())) {
            ram.setClass(frame, BlockClass.PINNED);
        }
        if (!aboveSsd && frame.terms().blockClass() == BlockClass.PINNED && ram.pinnedBytes() > maxPinnedBytes()) {
            refusePin(frame.file());
            ram.setClass(frame, BlockClass.HIGH);
        }
    }

    /**
     * Returns the terms of a block about to be written; the limit on pinned bytes may be reached by now.
     */
    BlockTerms termsOnSsd(Frame frame)
    {
        BlockTerms terms = frame.terms();
        if (terms.blockClass() != BlockClass.PINNED || ssd.pinnedBytes() + frame.length() <= maxPinnedBytes()) {
            return terms;
        }
        if (!frame.holdsBlock()) {
            return new BlockTerms(BlockClass.HIGH, terms.expirySeconds());
        }
        refusePin(frame.file());
        ram.setClass(frame, BlockClass.HIGH);
        return frame.terms();
    }
}
