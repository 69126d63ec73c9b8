package io.cachedhive.protocol.wire;

import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * What a read says of how the blocks that it asks for are to be kept.
 *
 * @param fillClass also of blocks that are there already; empty for normal, and to leave as they are those that are there
 * @param ttlMillis from the fill until they expire, as the worker's clock has it; empty for the worker's {@code cache.ttl}
 */
public record FillTerms(Optional<FillClass> fillClass, OptionalLong ttlMillis)
{
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
