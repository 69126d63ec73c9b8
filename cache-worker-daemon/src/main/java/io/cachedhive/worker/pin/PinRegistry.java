package io.cachedhive.worker.pin;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.time.ClockSkew;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.worker.state.DurableLog;
import io.cachedhive.worker.state.StateDirectory;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Comparator.comparingLong;

/**
 * The locations that are pinned by name, as far as this worker knows, and those that no longer are. The registry also
 * records for which of them the blocks have been updated. It survives a restart.
 *
 * <p>The newest pin of each location wins, so all workers agree regardless of the order in which they receive pins. A
 * location that is no longer pinned is forgotten after thirty days, or sooner if there are many of them, the oldest
 * first. A worker that was offline for that long may have missed it, and therefore drops its own pins.
 *
 * <p>The file is {@code pins}, see {@link DurableLog}. Not safe for use by several threads.
 */
final class PinRegistry
{
    private static final Logger log = Logger.get(PinRegistry.class);

    /**
     * The maximum number of pinned locations.
     */
    static final int MAX_PINS = 1 << 14;
    /**
     * The maximum number of locations that are no longer pinned, which are kept for workers that are offline.
     */
    static final int MAX_ENDED = 1 << 14;

    private static final DurableLog.Format<Pin> FORMAT = new DurableLog.Format<>(
            "pins",
            0x32424e50424d4843L, // CHMBPNB2
            Pin::id,
            WireForms::readPin,
            WireForms::writePin,
            Pin::createdNotAfter);

    private final DurableLog<Pin> book;
    private final Map<Place, Pin> pins = new HashMap<>();
    private boolean trusted;
    private int pinned;

    private record Place(OriginId origin, String location)
    {
        static Place of(Pin pin)
        {
            return new Place(pin.origin(), pin.location());
        }
    }

    private PinRegistry(DurableLog<Pin> book, boolean trusted)
    {
        this.book = book;
        this.trusted = trusted;
        for (Pin pin : book.all()) {
            pins.put(Place.of(pin), pin);
            pinned += pin.pinned() ? 1 : 0;
        }
    }

    static PinRegistry open(StateDirectory state, long nowMillis)
    {
        DurableLog<Pin> book = DurableLog.open(state, FORMAT, nowMillis);
        switch (book.found()) {
            case OUTDATED -> {
                log.warn("This cache worker %s: reading pins from its peers", book.problem());
                book.clear();
            }
            case DAMAGED -> log.warn(
                    "Cannot read the pins in %s (%s): reading them from peers; pin again if there are none",
                    state.path().resolve(FORMAT.name()),
                    book.problem());
            case NOTHING, ALL, UNVOUCHED -> {}
        }
        // without a file there may still be pinned blocks: the state directory may have been lost or changed
        return new PinRegistry(book, book.found() == DurableLog.Found.ALL);
    }

    /**
     * Returns whether every pinned block of earlier runs is known to be covered by this registry or by rules.
     */
    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * Records that all blocks have been checked against this registry.
     */
    void setTrusted()
    {
        trusted = true;
    }

    /**
     * Adds the pins that are newer than the known pins of their locations.
     *
     * @return the added pins; empty if too many locations would be pinned, in which case none is added
     */
    Optional<List<Pin>> add(Collection<Pin> learned, long nowMillis)
    {
        forget(nowMillis);
        Map<Place, Pin> newest = new HashMap<>();
        for (Pin pin : learned) {
            // peers accept no pin of the future from clients, so only a host with a wrong clock has one
            if (!isForgotten(pin, nowMillis) && !ClockSkew.isAhead(pin.createdMillis(), nowMillis)) {
                newest.merge(Place.of(pin), pin, (one, other) -> one.isNewerThan(other) ? one : other);
            }
        }
        List<Pin> added = newest.values().stream()
                .filter(pin -> !pins.containsKey(Place.of(pin)) || pin.isNewerThan(pins.get(Place.of(pin))))
                .toList();
        int more = 0;
        for (Pin pin : added) {
            Pin before = pins.get(Place.of(pin));
            more += (pin.pinned() ? 1 : 0) - (before != null && before.pinned() ? 1 : 0);
        }
        // unpinning is always accepted
        if (more > 0 && pinned + more > MAX_PINS) {
            return Optional.empty();
        }
        added.forEach(this::put);
        forgetOldestEnded();
        return Optional.of(added);
    }

    private static boolean isForgotten(Pin pin, long nowMillis)
    {
        return !pin.pinned() && nowMillis - pin.createdMillis() > DurableLog.KEPT.toMillis();
    }

    void forget(long nowMillis)
    {
        pins.values().stream()
                .filter(pin -> isForgotten(pin, nowMillis))
                .toList()
                .forEach(this::remove);
    }

    /**
     * Removes the oldest locations that are no longer pinned. All workers remove the same ones.
     */
    private void forgetOldestEnded()
    {
        int tooMany = pins.size() - pinned - MAX_ENDED;
        if (tooMany > 0) {
            pins.values().stream()
                    .filter(pin -> !pin.pinned())
                    .sorted(comparingLong(Pin::createdMillis).thenComparing(Pin::id))
                    .limit(tooMany)
                    .toList()
                    .forEach(this::remove);
        }
    }

    private void put(Pin pin)
    {
        Pin before = pins.get(Place.of(pin));
        if (before != null) {
            remove(before);
        }
        pins.put(Place.of(pin), pin);
        book.put(pin);
        pinned += pin.pinned() ? 1 : 0;
    }

    private void remove(Pin pin)
    {
        pins.remove(Place.of(pin));
        book.remove(pin);
        pinned -= pin.pinned() ? 1 : 0;
    }

    /**
     * Returns the XOR of the ids of all pins.
     */
    Digest128 xor()
    {
        return book.xor();
    }

    /**
     * Returns the pins sorted by id.
     */
    List<Pin> pins()
    {
        return ImmutableList.copyOf(book.all());
    }

    /**
     * Returns a page of the pins sorted by id.
     *
     * @param after only pins with a greater id
     */
    List<Pin> pins(Digest128 after, int maxCount)
    {
        return book.page(after, maxCount, _ -> true);
    }

    /**
     * Returns the pins whose blocks a new run has to update. For pins that were not applied, the class of the blocks is
     * unknown. For pinned locations, some blocks may have exceeded the limit. Applied pins that are no longer pinned
     * are excluded, because rules may have pinned their blocks since.
     */
    List<Pin> toBeApplied()
    {
        return book.all().stream().filter(pin -> pin.pinned() || !book.isDone(pin)).toList();
    }

    /**
     * Records that the blocks of these pins have been updated.
     */
    void setApplied(Collection<Pin> applied)
    {
        applied.forEach(book::setDone);
    }

    void save(long nowMillis)
            throws IOException
    {
        book.save(trusted ? nowMillis : 0);
    }
}
