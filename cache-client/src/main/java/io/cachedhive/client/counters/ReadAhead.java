package io.cachedhive.client.counters;

import io.cachedhive.client.counters.ClientCounters.TableCounters;

import static java.util.Objects.requireNonNull;

/**
 * A finished read of a stream, which reads further than it was asked for yet: its bytes are counted when they are used, and those that never are
 * were no bytes of a query. For one thread at a time.
 *
 * <p>A read of several sources counts its bytes in the order of the sources, not of their positions: the sums are right when all of it was used. Bytes that are used
 * more than once, by a reader that went back, count each time: beyond the length of the read they are of the source that was counted last.
 */
public final class ReadAhead
{
    private static final ReadSource[] SOURCES = ReadSource.values();
    private static final BypassCause[] CAUSES = BypassCause.values();

    private final TableCounters table;
    private final ReadObserver observer;
    private final long[] unusedBySource;
    private final long[] unusedByCause;
    private final boolean[] sourceCounted = new boolean[SOURCES.length];
    private final long readBytes;
    private final ReadSource slowestSource;
    private final long waitNanos;
    private boolean requestCounted;
    // of the bytes counted last
    private ReadSource lastSource = ReadSource.BYPASS;
    private BypassCause lastCause = CAUSES[0];

    /**
     * @param bytesBySource by the source's ordinal
     * @param bypassByCause by the cause's ordinal; their sum is that of {@link ReadSource#BYPASS}
     */
    public ReadAhead(TableCounters table, ReadObserver observer, long[] bytesBySource, long[] bypassByCause, long waitNanos)
    {
        this.table = requireNonNull(table, "table is null");
        this.observer = requireNonNull(observer, "observer is null");
        this.unusedBySource = bytesBySource.clone();
        this.unusedByCause = bypassByCause.clone();
        this.slowestSource = ReadSource.slowest(bytesBySource);
        this.waitNanos = waitNanos;
        this.readBytes = unusedBytes();
    }

    /**
     * A read that went to the origin without the cache.
     */
    public static ReadAhead ofBypass(TableCounters table, ReadObserver observer, BypassCause cause, long count, long waitNanos)
    {
        long[] bytesBySource = new long[SOURCES.length];
        bytesBySource[ReadSource.BYPASS.ordinal()] = count;
        long[] bypassByCause = new long[CAUSES.length];
        bypassByCause[cause.ordinal()] = count;
        return new ReadAhead(table, observer, bytesBySource, bypassByCause, waitNanos);
    }

    /**
     * Whether workers had to bring some of it before any of it is used, and brought it: what follows may as well be asked for sooner.
     */
    public boolean cameFromWorkers()
    {
        long broughtBytes = unusedBySource[ReadSource.SSD_HIT.ordinal()]
                + unusedBySource[ReadSource.NON_LOCAL_HIT.ordinal()]
                + unusedBySource[ReadSource.REMOTE_READ.ordinal()];
        return broughtBytes > 0 && unusedBySource[ReadSource.BYPASS.ordinal()] == 0;
    }

    public long unusedBytes()
    {
        long unused = 0;
        for (long count : unusedBySource) {
            unused += count;
        }
        return unused;
    }

    /**
     * Counts bytes as requested by a query.
     *
     * @param count no more than were read; over several calls they may be more
     */
    public void use(long count)
    {
        if (count < 0 || count > readBytes) {
            throw new IllegalArgumentException("cannot use %s of %s bytes".formatted(count, readBytes));
        }
        if (count == 0) {
            return;
        }
        if (!requestCounted) {
            requestCounted = true;
            table.addRequest(observer, slowestSource, waitNanos);
        }
        long left = count;
        for (ReadSource source : SOURCES) {
            int ordinal = source.ordinal();
            long used = Math.min(left, unusedBySource[ordinal]);
            if (used == 0) {
                continue;
            }
            unusedBySource[ordinal] -= used;
            left -= used;
            addBytes(source, used);
            if (source == ReadSource.BYPASS) {
                useBypass(used);
            }
        }
        if (left > 0) {
            addBytes(lastSource, left);
            if (lastSource == ReadSource.BYPASS) {
                table.addBypassBytes(observer, lastCause, left);
            }
        }
    }

    private void addBytes(ReadSource source, long count)
    {
        table.addBytes(observer, source, count, !sourceCounted[source.ordinal()]);
        sourceCounted[source.ordinal()] = true;
        lastSource = source;
    }

    private void useBypass(long count)
    {
        long left = count;
        for (BypassCause cause : CAUSES) {
            long used = Math.min(left, unusedByCause[cause.ordinal()]);
            if (used > 0) {
                unusedByCause[cause.ordinal()] -= used;
                left -= used;
                table.addBypassBytes(observer, cause, used);
                lastCause = cause;
            }
        }
    }
}
