package io.cachedhive.trino.filesystem;

import io.cachedhive.client.MissListener;
import io.cachedhive.client.counters.ReadSource;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * Makes a span of each read of a file for which bytes came from the origin, below the span of whoever reads. A hit makes none: it takes microseconds.
 */
final class MissSpans
        implements MissListener
{
    static final String NAME = "cachedhive.miss";

    // Trino's names, so that its spans and these can be searched together
    private static final AttributeKey<String> LOCATION = AttributeKey.stringKey("trino.file.location");
    private static final AttributeKey<Long> POSITION = AttributeKey.longKey("trino.file.read_position");
    private static final AttributeKey<Long> SIZE = AttributeKey.longKey("trino.file.read_size");
    private static final AttributeKey<String> TABLE = AttributeKey.stringKey("cachedhive.table");
    private static final AttributeKey<String> BYPASS_CAUSE = AttributeKey.stringKey("cachedhive.bypass_cause");

    private final Tracer tracer;
    private final String location;
    private final String table;

    MissSpans(Tracer tracer, String location, String table)
    {
        this.tracer = requireNonNull(tracer, "tracer is null");
        this.location = requireNonNull(location, "location is null");
        this.table = requireNonNull(table, "table is null");
    }

    @Override
    public void missed(Miss miss)
    {
        Instant end = Instant.now();
        SpanBuilder span = tracer.spanBuilder(NAME)
                .setSpanKind(SpanKind.CLIENT)
                .setStartTimestamp(end.minusNanos(miss.waitNanos()))
                .setAttribute(LOCATION, location)
                .setAttribute(POSITION, miss.position())
                .setAttribute(SIZE, miss.bytesBySource().values().stream().mapToLong(Long::longValue).sum())
                .setAttribute(TABLE, table);
        for (Map.Entry<ReadSource, Long> source : miss.bytesBySource().entrySet()) {
            span.setAttribute("cachedhive." + source.getKey().bytesCounter(), source.getValue());
        }
        miss.bypass().ifPresent(cause -> span.setAttribute(BYPASS_CAUSE, cause.name().toLowerCase(Locale.ROOT)));
        span.startSpan().end(TimeUnit.SECONDS.toNanos(end.getEpochSecond()) + end.getNano(), TimeUnit.NANOSECONDS);
    }
}
