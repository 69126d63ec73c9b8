package io.cachedhive.worker.ring;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.time.ClockSkew;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireForms;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.worker.state.StateDirectory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static java.util.Objects.requireNonNull;

/**
 * The newest rings that coordinators published to this worker. They survive a restart, so that clients can find owners
 * while no coordinator is running, and so that a new coordinator can read the previous ring.
 *
 * <p>The file {@code rings} contains a magic number, the CRC32C of the rest, and the rings in wire format, the newest
 * first. An unreadable file is ignored, because the coordinator publishes within seconds.
 */
public final class RingRegistry
{
    private static final Logger log = Logger.get(RingRegistry.class);

    public static final int MAX_RINGS = 16;

    private static final String FILE = "rings";
    private static final long MAGIC = 0x31474e4952564843L; // CHVRING1

    private final StateDirectory state;
    private final Executor writer;
    private final Consumer<List<PublishedRing>> shown;
    private volatile List<PublishedRing> rings = ImmutableList.of();
    @GuardedBy("this")
    private boolean writing;

    /**
     * @param clock tells which rings of the file are from the future
     * @param writer writes the file: one task at a time, so that a hung disk holds up no connection
     * @param shown called with the rings, the newest first, immediately and after each change
     */
    public RingRegistry(StateDirectory state, Clock clock, Executor writer, Consumer<List<PublishedRing>> shown)
    {
        this.state = requireNonNull(state, "state is null");
        this.writer = requireNonNull(writer, "writer is null");
        this.shown = requireNonNull(shown, "shown is null");
        try {
            state.read(FILE).ifPresent(content -> rings = withoutFuture(decode(content), clock.millis()));
        }
        catch (IOException e) {
            log.warn("Rings in %s cannot be read (%s): the coordinator sends them again", state.path(), e);
        }
        shown.accept(rings);
    }

    /**
     * Returns the rings, the newest first.
     */
    public List<PublishedRing> rings()
    {
        return rings;
    }

    public Optional<PublishedRing> newest()
    {
        return rings.stream().findFirst();
    }

    /**
     * Adds a ring, and has the file written. Of two rings with the same epoch, the one published later is kept.
     */
    public synchronized void publish(PublishedRing ring)
    {
        List<PublishedRing> changed = new ArrayList<>(rings);
        for (PublishedRing known : rings) {
            if (known.epoch().equals(ring.epoch())) {
                if (known.publishedMillis() >= ring.publishedMillis()) {
                    return;
                }
                changed.remove(known);
            }
        }
        changed.add(ring);
        changed.sort(Comparator.comparingLong(PublishedRing::publishedMillis).reversed());
        List<PublishedRing> kept = ImmutableList.copyOf(changed.subList(0, Math.min(MAX_RINGS, changed.size())));
        if (kept.equals(rings)) {
            return;
        }
        rings = kept;
        shown.accept(kept);
        if (!writing) {
            writing = true;
            try {
                writer.execute(this::write);
            }
            catch (RuntimeException | Error e) {
                // the next ring tries again
                writing = false;
                throw e;
            }
        }
    }

    /// Until what was written is what is known.
    private void write()
    {
        List<PublishedRing> written = null;
        while (true) {
            synchronized (this) {
                if (rings.equals(written)) {
                    writing = false;
                    return;
                }
                written = rings;
            }
            try {
                state.write(FILE, encode(written));
            }
            catch (Error e) {
                synchronized (this) {
                    // the next ring tries again
                    writing = false;
                }
                throw e;
            }
            catch (IOException | RuntimeException e) {
                log.warn("Rings cannot be written to %s (%s): after a restart the coordinator sends them again", state.path(), e);
            }
        }
    }

    private static byte[] encode(List<PublishedRing> rings)
    {
        ByteBuffer body = new WireWriter(1024).putList(rings, WireForms::writeRing).finish();
        ByteBuffer file = new WireWriter(16 + body.remaining())
                .putLong(MAGIC)
                .putLong(checksum(body))
                .putRest(body)
                .finish();
        byte[] content = new byte[file.remaining()];
        file.get(content);
        return content;
    }

    private static List<PublishedRing> decode(byte[] content)
    {
        try {
            WireReader reader = new WireReader(ByteBuffer.wrap(content));
            if (reader.getLong() != MAGIC) {
                throw new WireException("not a file of rings");
            }
            long checksum = reader.getLong();
            ByteBuffer body = reader.getRest();
            if (checksum(body) != checksum) {
                throw new WireException("checksum differs");
            }
            return new WireReader(body).getList(WireForms::readRing);
        }
        catch (WireException | IllegalArgumentException e) {
            log.warn("File of rings is ignored (%s): the coordinator sends them again", e.getMessage());
            return ImmutableList.of();
        }
    }

    private List<PublishedRing> withoutFuture(List<PublishedRing> read, long nowMillis)
    {
        List<PublishedRing> kept = read.stream()
                .filter(ring -> !ClockSkew.isAhead(ring.publishedMillis(), nowMillis))
                .collect(toImmutableList());
        if (kept.size() < read.size()) {
            log.warn("%s rings in %s have a time more than %s hours ahead of this host's clock and are ignored: check the clock; the coordinator sends its ring again",
                    read.size() - kept.size(),
                    state.path().resolve(FILE),
                    ClockSkew.MAX_AHEAD.toHours());
        }
        return kept;
    }

    private static long checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return checksum.getValue();
    }
}
