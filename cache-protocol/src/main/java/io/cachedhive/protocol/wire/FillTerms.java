package io.cachedhive.protocol.wire;

import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * The retention terms of a read: how to keep its blocks, and the quota of its table.
 *
 * @param fillClass the class of the blocks, which also applies to blocks already cached; empty for normal, without
 * changing blocks already cached
 * @param ttlMillis from the fill until the blocks expire by the worker's clock; empty for its {@code cache.ttl}
 * @param tableQuotaBytes the quota of the table over all cache workers of the ring; {@link #NO_QUOTA} for none, empty
 * to leave it unchanged. It is sent separately ({@link PolicyMessage.TableQuota}), because a read from shared memory
 * sends no request
 */
public record FillTerms(Optional<FillClass> fillClass, OptionalLong ttlMillis, OptionalLong tableQuotaBytes)
{
    /**
     * The value of {@code tableQuotaBytes} for a table without a quota.
     */
    public static final long NO_QUOTA = Long.MAX_VALUE;

    /**
     * Terms that leave everything to the worker.
     */
    public static final FillTerms UNSPECIFIED = new FillTerms(Optional.empty(), OptionalLong.empty());

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
     * Creates terms that do not change the table's quota.
     */
    public FillTerms(Optional<FillClass> fillClass, OptionalLong ttlMillis)
    {
        this(fillClass, ttlMillis, OptionalLong.empty());
    }

    /**
     * Returns the terms of the blocks only, without the table's quota.
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
