package io.cachedhive.worker.state;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * Records that workers tell each other, and which of them this one has done. They survive a restart.
 *
 * <p>The file: magic number, CRC32C of the rest, long when the worker was last known to live (ms; 0 if the run that wrote it did not vouch for what runs before it left), then
 * a list of records, each with a boolean whether it is done. Not safe for use by several threads.
 */
public final class DurableLog<T>
{
    /**
     * How long records are kept that say that something is over.
     */
    public static final Duration KEPT = Duration.ofDays(30);

    // a worker that was away for longer may lack one that everybody has forgotten
    private static final long MAX_AWAY_MILLIS = KEPT.minusDays(1).toMillis();
    private static final Digest128 ZERO = new Digest128(0, 0);

    /**
     * @param name of the file
     * @param magic the number that it begins with
     */
    public record Format<T>(String name, long magic, IdOf<T> idOf, Reader<T> reader, Writer<T> writer) {}

    public interface IdOf<T>
    {
        Digest128 id(T entry);
    }

    public interface Reader<T>
    {
        T read(WireReader in)
                throws WireException;
    }

    public interface Writer<T>
    {
        void write(WireWriter out, T entry);
    }

    /**
     * What was found of the last run.
     */
    public enum Found
    {
        /**
         * There is no file.
         */
        NOTHING,
        ALL,
        /**
         * All, but the run did not vouch for what runs before it left.
         */
        UNVOUCHED,
        /**
         * All, but the worker was away for so long that others may have forgotten what it never learned.
         */
        OUTDATED,
        /**
         * Nothing that can be read.
         */
        DAMAGED,
    }

    private final StateDirectory state;
    private final Format<T> format;
    private final NavigableMap<Digest128, T> entries = new TreeMap<>();
    private final Set<Digest128> done = new HashSet<>();
    private final Found found;
    private String problem = "";
    private Digest128 xor = ZERO;
    private Digest128 doneXor = ZERO;

    private DurableLog(StateDirectory state, Format<T> format, long nowMillis)
    {
        this.state = requireNonNull(state, "state is null");
        this.format = requireNonNull(format, "format is null");
        this.found = load(nowMillis);
    }

    /**
     * Reads what the last run left.
     */
    public static <T> DurableLog<T> open(StateDirectory state, Format<T> format, long nowMillis)
    {
        return new DurableLog<>(state, format, nowMillis);
    }

    private Found load(long nowMillis)
    {
        try {
            Optional<byte[]> content = state.read(format.name());
            if (content.isEmpty()) {
                return Found.NOTHING;
            }
            WireReader reader = new WireReader(ByteBuffer.wrap(content.get()));
            if (reader.getLong() != format.magic()) {
                throw new WireException("it is something else");
            }
            long checksum = reader.getLong();
            ByteBuffer body = reader.getRest();
            if (checksum(body) != checksum) {
                throw new WireException("its checksum is another");
            }
            WireReader rest = new WireReader(body);
            long livedMillis = rest.getLong();
            List<Entry<T>> read = rest.getList(in -> new Entry<>(format.reader().read(in), in.getBoolean()));
            for (Entry<T> entry : read) {
                put(entry.record());
                if (entry.done()) {
                    setDone(entry.record());
                }
            }
            if (livedMillis == 0) {
                return Found.UNVOUCHED;
            }
            if (nowMillis - livedMillis > MAX_AWAY_MILLIS) {
                problem = "was offline for %s days".formatted(Duration.ofMillis(nowMillis - livedMillis).toDays());
                return Found.OUTDATED;
            }
            return Found.ALL;
        }
        catch (IOException | IllegalArgumentException e) {
            problem = e.getMessage();
            clear();
            return Found.DAMAGED;
        }
    }

    private record Entry<T>(T record, boolean done) {}

    public Found found()
    {
        return found;
    }

    /**
     * For the log: for how long the worker was away, or why nothing can be read.
     */
    public String problem()
    {
        return problem;
    }

    public int size()
    {
        return entries.size();
    }

    public boolean contains(Digest128 id)
    {
        return entries.containsKey(id);
    }

    /**
     * In the order of their ids.
     */
    public Collection<T> all()
    {
        return Collections.unmodifiableCollection(entries.values());
    }

    /**
     * @return false if there is one of that id
     */
    public boolean put(T entry)
    {
        Digest128 id = format.idOf().id(entry);
        if (entries.putIfAbsent(id, entry) != null) {
            return false;
        }
        xor = xor(xor, id);
        return true;
    }

    /**
     * @return false if there was none of that id
     */
    public boolean remove(T entry)
    {
        Digest128 id = format.idOf().id(entry);
        if (entries.remove(id) == null) {
            return false;
        }
        xor = xor(xor, id);
        if (done.remove(id)) {
            doneXor = xor(doneXor, id);
        }
        return true;
    }

    public void clear()
    {
        entries.clear();
        done.clear();
        xor = ZERO;
        doneXor = ZERO;
    }

    /**
     * Nothing happens if it is not in the book, or is done.
     */
    public void setDone(T entry)
    {
        Digest128 id = format.idOf().id(entry);
        if (entries.containsKey(id) && done.add(id)) {
            doneXor = xor(doneXor, id);
        }
    }

    public boolean isDone(T entry)
    {
        return done.contains(format.idOf().id(entry));
    }

    public Set<Digest128> doneIds()
    {
        return Set.copyOf(done);
    }

    /**
     * Exclusive or of the ids of all.
     */
    public Digest128 xor()
    {
        return xor;
    }

    /**
     * Exclusive or of the ids of those that are done.
     */
    public Digest128 doneXor()
    {
        return doneXor;
    }

    private static Digest128 xor(Digest128 one, Digest128 other)
    {
        return new Digest128(one.high() ^ other.high(), one.low() ^ other.low());
    }

    /**
     * Some of them, in the order of their ids.
     *
     * @param after only ids beyond this one
     */
    public List<T> page(Digest128 after, int maxCount, Predicate<T> wanted)
    {
        return entries.tailMap(after, false).values().stream().filter(wanted).limit(maxCount).collect(ImmutableList.toImmutableList());
    }

    /**
     * Writes all of it down.
     *
     * @param nowMillis 0 if this run does not vouch for what earlier ones left
     */
    public void save(long nowMillis)
            throws IOException
    {
        ByteBuffer body = new WireWriter(1024)
                .putLong(nowMillis)
                .putList(entries.values(), (out, entry) -> {
                    format.writer().write(out, entry);
                    out.putBoolean(isDone(entry));
                })
                .finish();
        ByteBuffer file = new WireWriter(16 + body.remaining())
                .putLong(format.magic())
                .putLong(checksum(body))
                .putRest(body)
                .finish();
        byte[] content = new byte[file.remaining()];
        file.get(content);
        state.write(format.name(), content);
    }

    private static long checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return checksum.getValue();
    }
}
