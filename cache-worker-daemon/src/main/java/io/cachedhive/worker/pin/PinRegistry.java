package io.cachedhive.worker.pin;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
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
 * Which places are pinned by name, as far as this worker knows, which are not any more, and for which of them it has looked at its blocks. They survive a restart.
 *
 * <p>Of each place the newest pin is kept, whatever it says: all workers come to the same ones, in whatever order they learn of them. That a place is not pinned any more is
 * forgotten after thirty days, and the oldest sooner when there are many. A worker that was away for as long may have missed it, and forgets its own.
 *
 * <p>The file is {@code pins}, see {@link DurableLog}. Not safe for use by several threads.
 */
final class PinRegistry
{
    private static final Logger log = Logger.get(PinRegistry.class);

    /**
     * Places that are pinned.
     */
    static final int MAX_PINS = 1 << 14;
    /**
     * Places that are not pinned any more, which is remembered for workers that are away.
     */
    static final int MAX_ENDED = 1 << 14;

    private static final DurableLog.Format<Pin> FORMAT = new DurableLog.Format<>(
            "pins",
            0x32424e50424d4843L, // CHMBPNB2
            Pin::id,
            WireForms::readPin,
            WireForms::writePin);

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

    /**
     * Reads what the last run left.
     */
    static PinRegistry open(StateDirectory state, long nowMillis)
    {
        DurableLog<Pin> book = DurableLog.open(state, FORMAT, nowMillis);
        switch (book.found()) {
            case OUTDATED -> {
                log.warn("This cache worker %s: what was pinned comes from the others", book.problem());
                book.clear();
            }
            case DAMAGED -> log.warn(
                    "Cannot read the pins in %s (%s): reading them from peers; pin again if there are none",
                    state.path().resolve(FORMAT.name()),
                    book.problem());
            case NOTHING, ALL, UNVOUCHED -> {}
        }
        // without a file there may be blocks all the same: the state directory was lost, or another one is configured
        return new PinRegistry(book, book.found() == DurableLog.Found.ALL);
    }

    /**
     * Whether the last run pinned nothing that nobody knows of any more.
     */
    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * All blocks were looked at: none is pinned that is not pinned here.
     */
    void setTrusted()
    {
        trusted = true;
    }

    /**
     * Takes those that are newer than what is known of their places.
     *
     * @return those; empty if too many places would be pinned, and then none is taken
     */
    Optional<List<Pin>> add(Collection<Pin> learned, long nowMillis)
    {
        forget(nowMillis);
        Map<Place, Pin> newest = new HashMap<>();
        for (Pin pin : learned) {
            if (!isForgotten(pin, nowMillis)) {
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
        // what is not pinned any more finds room in any case
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
     * All workers forget the same ones, those that were unpinned first.
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
     * Exclusive or of the ids of all.
     */
    Digest128 xor()
    {
        return book.xor();
    }

    /**
     * In the order of their ids.
     */
    List<Pin> pins()
    {
        return ImmutableList.copyOf(book.all());
    }

    /**
     * @param after only ids beyond this one
     */
    List<Pin> pins(Digest128 after, int maxCount)
    {
        return book.page(after, maxCount, _ -> true);
    }

    /**
     * Those whose blocks a new run has to look at: which ones are of the class that they should be is not known of those that were not looked at yet, and blocks of those that
     * are pinned may have found no room. The others are left alone: rules may have pinned them since.
     */
    List<Pin> toBeApplied()
    {
        return book.all().stream().filter(pin -> pin.pinned() || !book.isDone(pin)).toList();
    }

    /**
     * Their blocks were looked at.
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
