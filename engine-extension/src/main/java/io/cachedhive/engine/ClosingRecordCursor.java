package io.cachedhive.engine;

import io.airlift.slice.Slice;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.type.Type;

import static java.util.Objects.requireNonNull;

/** Closes what its rows come from, when it is closed. */
final class ClosingRecordCursor
        implements RecordCursor
{
    private final RecordCursor rows;
    private final Source source;

    /** Where rows come from. */
    interface Source
    {
        void close();
    }

    ClosingRecordCursor(RecordCursor rows, Source source)
    {
        this.rows = requireNonNull(rows, "rows is null");
        this.source = requireNonNull(source, "source is null");
    }

    @Override
    public long getCompletedBytes()
    {
        return rows.getCompletedBytes();
    }

    @Override
    public long getReadTimeNanos()
    {
        return rows.getReadTimeNanos();
    }

    @Override
    public Type getType(int field)
    {
        return rows.getType(field);
    }

    @Override
    public boolean advanceNextPosition()
    {
        return rows.advanceNextPosition();
    }

    @Override
    public boolean getBoolean(int field)
    {
        return rows.getBoolean(field);
    }

    @Override
    public long getLong(int field)
    {
        return rows.getLong(field);
    }

    @Override
    public double getDouble(int field)
    {
        return rows.getDouble(field);
    }

    @Override
    public Slice getSlice(int field)
    {
        return rows.getSlice(field);
    }

    @Override
    public Object getObject(int field)
    {
        return rows.getObject(field);
    }

    @Override
    public boolean isNull(int field)
    {
        return rows.isNull(field);
    }

    @Override
    public void close()
    {
        rows.close();
        source.close();
    }
}
