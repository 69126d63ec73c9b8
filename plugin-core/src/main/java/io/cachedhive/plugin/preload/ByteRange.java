package io.cachedhive.plugin.preload;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * Some of a file's bytes.
 *
 * @param start bytes from the start of the file
 * @param end the first byte that is not in it
 */
public record ByteRange(long start, long end)
{
    public ByteRange
    {
        checkArgument(start >= 0 && start <= end, "not a range: %s to %s", start, end);
    }

    public static ByteRange ofLength(long start, long length)
    {
        return new ByteRange(start, start + length);
    }

    public long length()
    {
        return end - start;
    }

    /**
     * The same bytes and those between them, as few ranges in ascending order.
     *
     * @param maxGapBytes what lies between two ranges is taken as well if it is not longer
     */
    public static List<ByteRange> join(Collection<ByteRange> ranges, long maxGapBytes)
    {
        List<ByteRange> sorted = ranges.stream()
                .filter(range -> range.length() > 0)
                .sorted(Comparator.comparingLong(ByteRange::start))
                .toList();
        List<ByteRange> joined = new ArrayList<>();
        for (ByteRange range : sorted) {
            if (!joined.isEmpty() && range.start() - joined.getLast().end() <= maxGapBytes) {
                ByteRange last = joined.removeLast();
                joined.add(new ByteRange(last.start(), Math.max(last.end(), range.end())));
            }
            else {
                joined.add(range);
            }
        }
        return List.copyOf(joined);
    }
}
