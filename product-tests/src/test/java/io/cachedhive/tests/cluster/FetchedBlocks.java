package io.cachedhive.tests.cluster;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Service;

import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which blocks of files the object store was asked for, by the ranges of its GETs.
 *
 * @param times how often each block was asked for, if at all
 * @param requestedBytes of the ranges
 */
record FetchedBlocks(Multiset<Block> times, long requestedBytes)
{
    private static final long BLOCK_BYTES = 1 << 20;
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d*)-(\\d*)");

    /**
     * @param length bytes
     */
    record Block(String key, long index, long length) {}

    /**
     * @param lengthByKey of the files that are looked at
     */
    static FetchedBlocks since(S3Service s3, long mark, Map<String, Long> lengthByKey)
    {
        Multiset<Block> times = HashMultiset.create();
        long requestedBytes = 0;
        for (S3Request request : s3.log().since(mark)) {
            Long length = request.key().map(lengthByKey::get).orElse(null);
            if (length == null || !request.isGet()) {
                continue;
            }
            long start = 0;
            long end = length;
            if (request.range().isPresent()) {
                Matcher range = RANGE.matcher(request.range().get());
                if (!range.matches()) {
                    throw new AssertionError("not a range: " + request);
                }
                if (range.group(1).isEmpty()) {
                    start = Math.max(0, length - Long.parseLong(range.group(2)));
                }
                else {
                    start = Long.parseLong(range.group(1));
                    end = range.group(2).isEmpty() ? length : Math.min(length, Long.parseLong(range.group(2)) + 1);
                }
            }
            requestedBytes += end - start;
            for (long index = start / BLOCK_BYTES; index * BLOCK_BYTES < end; index++) {
                times.add(new Block(request.key().get(), index, Math.min(BLOCK_BYTES, length - index * BLOCK_BYTES)));
            }
        }
        return new FetchedBlocks(times, requestedBytes);
    }

    Set<Block> blocks()
    {
        return times.elementSet();
    }

    /**
     * Of all these blocks, each once.
     */
    long blockBytes()
    {
        return blocks().stream().mapToLong(Block::length).sum();
    }
}
