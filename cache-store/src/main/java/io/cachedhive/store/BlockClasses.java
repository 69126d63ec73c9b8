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
 * Which class blocks have: the one that a read or a call gives them, but pinned if their file is pinned by name, and high instead of pinned if there is no more room for
 * pinned ones. Guarded by the store's lock, but for {@link #pinByName}.
 */
final class BlockClasses
{
    private final RamTier ram;
    private final SsdTier ssd;
    private final boolean aboveSsd;
    private final double pinnedMaxShare;

    // which files are pinned by name; nobody's, if empty
    private volatile Optional<Predicate<FileVersion>> pins = Optional.empty();
    private long rejectedPins;
    // whether there are blocks of files that are pinned by name which found no room among the pinned ones
    private boolean pinsWait;

    /**
     * @param pinnedMaxShare of the tier in which pinned blocks are kept
     */
    BlockClasses(Tiers tiers, double pinnedMaxShare)
    {
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.aboveSsd = tiers.isAboveSsd();
        this.pinnedMaxShare = pinnedMaxShare;
    }

    /**
     * Which files are pinned by name, from now on.
     */
    void pinByName(Predicate<FileVersion> pinned)
    {
        pins = Optional.of(pinned);
    }

    /**
     * Says which files are pinned by name; none if that was never said.
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
     * In the tier in which pinned blocks are kept.
     */
    long pinnedBytes()
    {
        return aboveSsd ? ssd.pinnedBytes() : ram.pinnedBytes();
    }

    /**
     * What pinned blocks may take of that tier.
     */
    long maxPinnedBytes()
    {
        return (long) (pinnedMaxShare * (aboveSsd ? ssd.capacityBytes() : ram.frameBytes()));
    }

    /**
     * A block of the file was to be pinned, and finds no room.
     */
    void refusePin(StoredFile file)
    {
        rejectedPins++;
        pinsWait |= isPinnedByName(file);
    }

    /**
     * How many blocks were to be pinned, and found no room.
     */
    long rejectedPins()
    {
        return rejectedPins;
    }

    /**
     * Whether so many more bytes can be pinned, and some wait for it, who are asked for again from now on.
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
     * There are blocks of files that are pinned by name which are not pinned yet.
     */
    void setPinsWait()
    {
        pinsWait = true;
    }

    /**
     * Of a block in the tier in which pinned blocks are kept.
     */
    Optional<BlockClass> keptClass(Digest128 digest)
    {
        return aboveSsd ?
                ssd.find(digest).map(block -> block.terms().blockClass()) :
                ram.find(digest).map(frame -> frame.terms().blockClass());
    }

    /**
     * The class that a read or a call wants a block to have.
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
     * The class that a block of this worker's own has from now on in both tiers, as far as there is room.
     *
     * @return false if the block stays as it was on SSD, since the journal is full
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
     * Of a block that was just shown. The file may have been pinned since the fill began, or pinned blocks have taken all the room that is theirs.
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
     * Of a block that is about to be written: by now there may be no more room for pinned ones.
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
