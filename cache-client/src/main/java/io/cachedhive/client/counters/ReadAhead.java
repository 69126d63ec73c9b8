package io.cachedhive.client.counters;

import io.cachedhive.client.counters.ClientCounters.TableCounters;

import static java.util.Objects.requireNonNull;

/**
 * A finished read of a stream, which reads further than it was asked for yet: its bytes are counted when they are used, and those that never are
 * were no bytes of a query. For one thread at a time.
 *
 * <p>A read of several sources counts its bytes in the order of the sources, not of their positions: the sums are right when all of it was used.
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
    private final long waitNanos;
    private boolean requestCounted;

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
        this.waitNanos = waitNanos;
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
     */
    public void use(long count)
    {
        if (count < 0 || count > unusedBytes()) {
            throw new IllegalArgumentException("cannot use %s of %s bytes".formatted(count, unusedBytes()));
        }
        if (count == 0) {
            return;
        }
        if (!requestCounted) {
            requestCounted = true;
            table.addRequest(observer, waitNanos);
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
            table.addBytes(observer, source, used, !sourceCounted[ordinal]);
            sourceCounted[ordinal] = true;
            if (source == ReadSource.BYPASS) {
                useBypass(used);
            }
        }
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
            }
        }
    }
}
