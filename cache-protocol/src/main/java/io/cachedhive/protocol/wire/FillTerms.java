package io.cachedhive.protocol.wire;

import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * What a read says of how the blocks that it asks for, and all of its table, are to be kept.
 *
 * @param fillClass also of blocks that are there already; empty for normal, and to leave as they are those that are there
 * @param ttlMillis from the fill until they expire, as the worker's clock has it; empty for the worker's {@code cache.ttl}
 * @param tableQuotaBytes of the table, over all cache workers of the ring; {@link #NO_QUOTA} if it has none, empty to leave it as it is. Travels by itself
 *         ({@link PolicyMessage.TableQuota}): a read of what is in shared memory has no request that it could go with
 */
public record FillTerms(Optional<FillClass> fillClass, OptionalLong ttlMillis, OptionalLong tableQuotaBytes)
{
    /**
     * That the table has no quota, in place of its bytes.
     */
    public static final long NO_QUOTA = Long.MAX_VALUE;

    /**
     * Nothing.
     */
    public static final FillTerms UNSAID = new FillTerms(Optional.empty(), OptionalLong.empty());

    public FillTerms
    {
        requireNonNull(fillClass, "fillClass is null");
        requireNonNull(ttlMillis, "ttlMillis is null");
        if (ttlMillis.isPresent() && ttlMillis.getAsLong() < 0) {
            throw new IllegalArgumentException("ttl is negative: " + ttlMillis.getAsLong());
        }
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
        if (tableQuotaBytes.isPresent() && tableQuotaBytes.getAsLong() < 0) {
            throw new IllegalArgumentException("quota is negative: " + tableQuotaBytes.getAsLong());
        }
    }

    /**
     * With nothing said of the table.
     */
    public FillTerms(Optional<FillClass> fillClass, OptionalLong ttlMillis)
    {
        this(fillClass, ttlMillis, OptionalLong.empty());
    }

    /**
     * What is said of the blocks, without what is said of their table.
     */
    public FillTerms ofBlocks()
    {
        return tableQuotaBytes.isEmpty() ? this : new FillTerms(fillClass, ttlMillis);
    }

    void writeTo(WireWriter writer)
    {
        writer.putBoolean(fillClass.isPresent());
        fillClass.ifPresent(value -> writer.putByte(value.ordinal()));
        writer.putBoolean(ttlMillis.isPresent());
        ttlMillis.ifPresent(writer::putLong);
    }

    static FillTerms read(WireReader reader)
            throws WireException
    {
        Optional<FillClass> fillClass = reader.getBoolean() ? Optional.of(FillClass.read(reader)) : Optional.empty();
        return new FillTerms(fillClass, reader.getBoolean() ? OptionalLong.of(reader.getLong()) : OptionalLong.empty());
    }
}
