package io.cachedhive.worker.flush;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.LocationIndex;
import io.cachedhive.protocol.file.Tombstone;
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
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * The tombstones of the last thirty days that this worker knows, and which of them it has done. They survive a restart: what was begun is done again, and what was done is
 * not, so that it takes nothing that was cached since.
 *
 * <p>A tombstone is superfluous, and forgotten, when another one that was made well after it covers the same files and more. All workers come to the same ones, in whatever
 * order they learn of them, since that depends on the tombstones alone.
 *
 * <p>The file {@code tombstones}: magic number, CRC32C of the rest, long when the worker was last known to live (ms), then a list of tombstones, each with a boolean whether
 * it is done. Not safe for use by several threads.
 */
final class TombstoneBook
{
    private static final Logger log = Logger.get(TombstoneBook.class);

    static final Duration KEPT = Duration.ofDays(30);
    static final int MAX_TOMBSTONES = 1 << 14;

    private static final String FILE = "tombstones";
    private static final long MAGIC = 0x3142544f4d424843L; // CHBMOTB1
    // much more than clocks of coordinators differ by
    private static final long SUPERFLUOUS_MILLIS = Duration.ofMinutes(10).toMillis();
    // a worker that was away for longer may lack one that everybody has forgotten
    private static final long MAX_AWAY_MILLIS = KEPT.minusDays(1).toMillis();

    private final StateDirectory state;
    private final NavigableMap<Digest128, Tombstone> tombstones = new TreeMap<>();
    // of the same, so that a new one is not compared with all
    private final LocationIndex<Tombstone> byLocation = LocationIndex.ofTombstones(List.of());
    private final Set<Digest128> done = new HashSet<>();
    private final boolean trusted;
    private Digest128 doneXor = new Digest128(0, 0);

    private TombstoneBook(StateDirectory state, long nowMillis)
    {
        this.state = requireNonNull(state, "state is null");
        this.trusted = load(nowMillis);
    }

    /**
     * Reads what the last run left.
     */
    static TombstoneBook open(StateDirectory state, long nowMillis)
    {
        return new TombstoneBook(state, nowMillis);
    }

    /**
     * @return false if nobody can say which tombstones the blocks of the last run lack
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
            for (Entry entry : rest.getList(in -> new Entry(WireForms.readTombstone(in), in.getBoolean()))) {
                put(entry.tombstone());
                if (entry.done()) {
                    markDone(entry.tombstone().id());
                }
            }
            if (nowMillis - livedMillis > MAX_AWAY_MILLIS) {
                log.warn("This cache worker was away for %s days, longer than flushes are remembered: it starts empty", Duration.ofMillis(nowMillis - livedMillis).toDays());
                return false;
            }
            return true;
        }
        catch (IOException | IllegalArgumentException e) {
            log.warn("Flushes in %s cannot be read (%s): nobody knows which of them were done, so the cache worker starts empty", state.path().resolve(FILE), e.getMessage());
            List.copyOf(tombstones.values()).forEach(this::remove);
            done.clear();
            doneXor = new Digest128(0, 0);
            return false;
        }
    }

    private record Entry(Tombstone tombstone, boolean done) {}

    /**
     * Whether all that is not in the book, nor done, is known to be no more than what others have; otherwise everything that was cached has to go.
     */
    boolean isTrusted()
    {
        return trusted;
    }

    /**
     * Those that are new here and not superfluous, in no order.
     *
     * @return empty if there would be too many
     */
    Optional<List<Tombstone>> add(Collection<Tombstone> learned, long nowMillis)
    {
        List<Tombstone> added = new ArrayList<>();
        for (Tombstone tombstone : learned) {
            boolean superfluous = isForgotten(tombstone, nowMillis) ||
                    byLocation.covering(tombstone.origin(), tombstone.location()).stream().anyMatch(known -> makesSuperfluous(known, tombstone));
            if (!tombstones.containsKey(tombstone.id()) && !superfluous) {
                put(tombstone);
                added.add(tombstone);
            }
        }
        if (tombstones.size() > MAX_TOMBSTONES) {
            forget(nowMillis);
        }
        if (tombstones.size() > MAX_TOMBSTONES) {
            added.forEach(this::remove);
            return Optional.empty();
        }
        return Optional.of(added);
    }

    private static boolean isForgotten(Tombstone tombstone, long nowMillis)
    {
        return nowMillis - tombstone.createdMillis() > KEPT.toMillis();
    }

    private static boolean makesSuperfluous(Tombstone later, Tombstone earlier)
    {
        return later.createdMillis() - earlier.createdMillis() > SUPERFLUOUS_MILLIS && later.covers(earlier);
    }

    List<Tombstone> notDone()
    {
        return tombstones.values().stream().filter(tombstone -> !done.contains(tombstone.id())).toList();
    }

    /**
     * They are done, and what they make superfluous is forgotten.
     */
    void setDone(Collection<Tombstone> finished, long nowMillis)
    {
        for (Tombstone tombstone : finished) {
            if (tombstones.containsKey(tombstone.id())) {
                markDone(tombstone.id());
            }
            byLocation.within(tombstone.origin(), tombstone.location()).stream()
                    .filter(earlier -> makesSuperfluous(tombstone, earlier))
                    .toList()
                    .forEach(this::remove);
        }
        forget(nowMillis);
    }

    /**
     * Those that are older than any is kept.
     */
    void forget(long nowMillis)
    {
        tombstones.values().stream()
                .filter(tombstone -> isForgotten(tombstone, nowMillis))
                .toList()
                .forEach(this::remove);
    }

    private void markDone(Digest128 id)
    {
        if (done.add(id)) {
            doneXor = xor(doneXor, id);
        }
    }

    private void put(Tombstone tombstone)
    {
        if (tombstones.putIfAbsent(tombstone.id(), tombstone) == null) {
            byLocation.add(tombstone);
        }
    }

    private void remove(Tombstone tombstone)
    {
        if (tombstones.remove(tombstone.id(), tombstone)) {
            byLocation.remove(tombstone);
        }
        if (done.remove(tombstone.id())) {
            doneXor = xor(doneXor, tombstone.id());
        }
    }

    private static Digest128 xor(Digest128 one, Digest128 other)
    {
        return new Digest128(one.high() ^ other.high(), one.low() ^ other.low());
    }

    /**
     * Exclusive or of the ids of those that are done.
     */
    Digest128 doneXor()
    {
        return doneXor;
    }

    /**
     * Those that are done, in the order of their ids.
     *
     * @param after only ids beyond this one
     */
    List<Tombstone> done(Digest128 after, int maxCount)
    {
        ImmutableList.Builder<Tombstone> some = ImmutableList.builder();
        int count = 0;
        for (Tombstone tombstone : tombstones.tailMap(after, false).values()) {
            if (count == maxCount) {
                break;
            }
            if (done.contains(tombstone.id())) {
                some.add(tombstone);
                count++;
            }
        }
        return some.build();
    }

    Set<Digest128> doneIds()
    {
        return Set.copyOf(done);
    }

    void save(long nowMillis)
            throws IOException
    {
        ByteBuffer body = new WireWriter(1024)
                .putLong(nowMillis)
                .putList(tombstones.values(), (out, tombstone) -> {
                    WireForms.writeTombstone(out, tombstone);
                    out.putBoolean(done.contains(tombstone.id()));
                })
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
