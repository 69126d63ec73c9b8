package io.cachedhive.worker.state;

import com.google.common.collect.ImmutableList;
import io.airlift.log.Logger;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.time.ClockSkew;
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
 * A log of records that workers exchange, and of which of them this worker has applied. It survives a restart.
 *
 * <p>The file contains a magic number, the CRC32C of the rest, the time of the write, and the list of records, each
 * with a boolean for applied. The time is in milliseconds since the Unix epoch, or 0 if the run that wrote the file
 * did not vouch for the state of earlier runs. Not safe for use by several threads.
 */
public final class DurableLog<T>
{
    private static final Logger log = Logger.get(DurableLog.class);

    /**
     * The time for which records of ended states are kept.
     */
    public static final Duration KEPT = Duration.ofDays(30);

    // a worker that was offline for longer may lack a record that all workers have already forgotten
    private static final long MAX_AWAY_MILLIS = KEPT.minusDays(1).toMillis();
    private static final Digest128 ZERO = new Digest128(0, 0);

    /**
     * The format of a log.
     *
     * @param name the name of the file
     * @param magic the magic number of the file
     * @param timeLimit limits the time of a record
     */
    public record Format<T>(String name, long magic, IdOf<T> idOf, Reader<T> reader, Writer<T> writer, TimeLimit<T> timeLimit) {}

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

    public interface TimeLimit<T>
    {
        /**
         * Returns the same record if its time is not after the limit, otherwise one with the limit as its time.
         */
        T notAfter(T entry, long millis);
    }

    /**
     * The state of the file of the last run.
     */
    public enum Found
    {
        /**
         * There is no file.
         */
        NOTHING,
        ALL,
        /**
         * The file is complete, but its run did not vouch for the state of earlier runs.
         */
        UNVOUCHED,
        /**
         * The file is complete, but the worker was offline for so long that peers may have forgotten records.
         */
        OUTDATED,
        /**
         * The file is unreadable.
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
     * Reads the file of the last run.
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
            int ahead = 0;
            for (Entry<T> entry : read) {
                T record = entry.record();
                if (format.timeLimit().notAfter(record, nowMillis + ClockSkew.MAX_AHEAD.toMillis()) != record) {
                    // ignoring it could lose a flush; with its own time it would outrank all later records
                    record = format.timeLimit().notAfter(record, nowMillis);
                    ahead++;
                }
                put(record);
                if (entry.done()) {
                    setDone(record);
                }
            }
            if (ahead > 0) {
                log.warn("%s records in %s have a time more than %s hours ahead of this host's clock; replaced it with the current time: check the clock",
                        ahead,
                        state.path().resolve(format.name()),
                        ClockSkew.MAX_AHEAD.toHours());
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
     * Returns the reason for OUTDATED or DAMAGED, for the log.
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
     * Returns the records sorted by id.
     */
    public Collection<T> all()
    {
        return Collections.unmodifiableCollection(entries.values());
    }

    /**
     * Adds a record.
     *
     * @return false if there is already a record with its id
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
     * Removes a record.
     *
     * @return false if there was no record with its id
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
     * Marks a record as applied. Has no effect if the record is unknown or has been applied already.
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
     * Returns the XOR of the ids of all records.
     */
    public Digest128 xor()
    {
        return xor;
    }

    /**
     * Returns the XOR of the ids of the applied records.
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
     * Returns a page of the records sorted by id.
     *
     * @param after only records with a greater id
     */
    public List<T> page(Digest128 after, int maxCount, Predicate<T> wanted)
    {
        return entries.tailMap(after, false).values().stream().filter(wanted).limit(maxCount).collect(ImmutableList.toImmutableList());
    }

    /**
     * Writes the file.
     *
     * @param nowMillis the current time, or 0 if this run does not vouch for the state of earlier runs
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
