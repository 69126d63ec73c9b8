package io.cachedhive.protocol.ring;

import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Identifies a cache worker for the lifetime of its store. The id is stored with the cached data, so a worker that
 * returns under another address keeps its chunks.
 *
 * @param value 1 to 64 letters, digits, {@code -}, {@code _}, {@code .}
 */
public record CacheWorkerId(String value)
        implements Comparable<CacheWorkerId>
{
    private static final Pattern VALID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    public CacheWorkerId
    {
        requireNonNull(value, "value is null");
        if (!VALID.matcher(value).matches()) {
            throw new IllegalArgumentException("cache worker id is not 1 to 64 letters, digits, '-', '_', '.': " + value);
        }
    }

    @Override
    public int compareTo(CacheWorkerId other)
    {
        return value.compareTo(other.value);
    }

    @Override
    public String toString()
    {
        return value;
    }
}
