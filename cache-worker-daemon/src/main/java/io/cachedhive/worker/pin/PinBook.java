package io.cachedhive.worker.pin;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.worker.state.StateDirectory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * Which places are pinned by name, as far as this worker knows, and which are not any more. They survive a restart.
 *
 * <p>Of each place the newest pin is kept, whatever it says: all workers come to the same ones, in whatever order they learn of them. That a place is not pinned any more is
 * forgotten after thirty days. A worker that was away for as long may have missed it, and forgets its own.
 *
 * <p>The file {@code pins}: magic number, CRC32C of the rest, long when the worker was last known to live (ms), then a list of pins. Not safe for use by several threads.
 */
final class PinBook
{
    private static final Logger log = Logger.get(PinBook.class);

    static final Duration KEPT = Duration.ofDays(30);
    static final int MAX_PINS = 1 << 14;

    private static final String FILE = "pins";
    private static final long MAGIC = 0x31424e50424d4843L; // CHMBPNB1
    private static final long MAX_AWAY_MILLIS = KEPT.minusDays(1).toMillis();
    private static final Digest128 ZERO = new Digest128(0, 0);

    private final StateDirectory state;
    private final Map<Place, Pin> pins = new HashMap<>();
    private final NavigableMap<Digest128, Pin> byId = new TreeMap<>();
    private final boolean trusted;
    private Digest128 xor = ZERO;

    private record Place(OriginId origin, String location)
    {
        static Place of(Pin pin)
        {
            return new Place(pin.origin(), pin.location());
        }
    }

    private PinBook(StateDirectory state, long nowMillis)
    {
        this.state = requireNonNull(state, "state is null");
        this.trusted = load(nowMillis);
    }

    /**
     * Reads what the last run left.
     */
    static PinBook open(StateDirectory state, long nowMillis)
    {
        return new PinBook(state, nowMillis);
    }

    /**
     * @return false if the last run may have pinned what nobody knows of any more
     */
    private boolean load(long nowMillis)
    {
        try {
            Optional<byte[]> content = state.read(FILE);
            if (content.isEmpty()) {
                return true;
            }
            WireReader reader = new WireReader(ByteBuffer.wrap(content.get()));
            if (reader.getLong() != MAGIC) {
                throw new WireException("it is something else");
            }
            long checksum = reader.getLong();
            ByteBuffer body = reader.getRest();
            if (checksum(body) != checksum) {
                throw new WireException("its checksum is another");
            }
            WireReader rest = new WireReader(body);
            long livedMillis = rest.getLong();
            List<Pin> found = rest.getList(WireForms::readPin);
            if (nowMillis - livedMillis > MAX_AWAY_MILLIS) {
                log.warn("This cache worker was away for %s days: what was pinned comes from the others", Duration.ofMillis(nowMillis - livedMillis).toDays());
                return false;
            }
            found.forEach(this::put);
            return true;
        }
        catch (IOException | IllegalArgumentException e) {
            log.warn("What is pinned cannot be read from %s (%s): it comes from other cache workers, or pin it again", state.path().resolve(FILE), e.getMessage());
            return false;
        }
    }

    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * Takes those that are newer than what is known of their places.
     *
     * @return those; empty if there would be too many, and then none is taken
     */
    Optional<List<Pin>> add(Collection<Pin> learned, long nowMillis)
    {
        forget(nowMillis);
        List<Pin> added = new ArrayList<>();
        Map<Place, Pin> newest = new HashMap<>();
        for (Pin pin : learned) {
            if (!isForgotten(pin, nowMillis)) {
                newest.merge(Place.of(pin), pin, (one, other) -> one.isNewerThan(other) ? one : other);
            }
        }
        long places = newest.keySet().stream().filter(place -> !pins.containsKey(place)).count();
        if (pins.size() + places > MAX_PINS) {
            return Optional.empty();
        }
        for (Pin pin : newest.values()) {
            Pin known = pins.get(Place.of(pin));
            if (known == null || pin.isNewerThan(known)) {
                put(pin);
                added.add(pin);
            }
        }
        return Optional.of(added);
    }

    private static boolean isForgotten(Pin pin, long nowMillis)
    {
        return !pin.pinned() && nowMillis - pin.createdMillis() > KEPT.toMillis();
    }

    void forget(long nowMillis)
    {
        pins.values().stream()
                .filter(pin -> isForgotten(pin, nowMillis))
                .toList()
                .forEach(this::remove);
    }

    private void put(Pin pin)
    {
        Pin before = pins.get(Place.of(pin));
        if (before != null) {
            remove(before);
        }
        pins.put(Place.of(pin), pin);
        byId.put(pin.id(), pin);
        xor = xor(xor, pin.id());
    }

    private void remove(Pin pin)
    {
        pins.remove(Place.of(pin));
        byId.remove(pin.id());
        xor = xor(xor, pin.id());
    }

    private static Digest128 xor(Digest128 one, Digest128 other)
    {
        return new Digest128(one.high() ^ other.high(), one.low() ^ other.low());
    }

    /**
     * Exclusive or of the ids of all.
     */
    Digest128 xor()
    {
        return xor;
    }

    /**
     * In the order of their ids.
     */
    List<Pin> pins()
    {
        return ImmutableList.copyOf(byId.values());
    }

    /**
     * @param after only ids beyond this one
     */
    List<Pin> pins(Digest128 after, int maxCount)
    {
        return byId.tailMap(after, false).values().stream().limit(maxCount).toList();
    }

    void save(long nowMillis)
            throws IOException
    {
        ByteBuffer body = new WireWriter(1024)
                .putLong(nowMillis)
                .putList(byId.values(), WireForms::writePin)
                .finish();
        ByteBuffer file = new WireWriter(16 + body.remaining())
                .putLong(MAGIC)
                .putLong(checksum(body))
                .putRest(body)
                .finish();
        byte[] content = new byte[file.remaining()];
        file.get(content);
        state.write(FILE, content);
    }

    private static long checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return checksum.getValue();
    }
}
