package io.cachedhive.store.block;

import static java.util.Objects.requireNonNull;

/**
 * On which terms a block is kept. They come from the read that filled it, and stay the block's own.
 *
 * @param expirySeconds since the epoch, when it expires: from then on it is a miss; at most {@link #NEVER}
 */
public record BlockTerms(BlockClass blockClass, long expirySeconds)
{
    /**
     * In place of a time.
     */
    public static final long NEVER = 0xFFFF_FFFFL;

    public BlockTerms
    {
        requireNonNull(blockClass, "blockClass is null");
        if (expirySeconds < 0 || expirySeconds > NEVER) {
            throw new IllegalArgumentException("a block cannot expire %s seconds after the epoch".formatted(expirySeconds));
        }
    }

    /**
     * Until a moment, rounded down to a second.
     *
     * @param expiryMillis since the epoch
     */
    public static BlockTerms until(BlockClass blockClass, long expiryMillis)
    {
        return new BlockTerms(blockClass, Math.clamp(Math.floorDiv(expiryMillis, 1000), 0, NEVER));
    }

    /**
     * With the same expiry.
     */
    public BlockTerms withClass(BlockClass other)
    {
        return new BlockTerms(other, expirySeconds);
    }

    /**
     * @param nowMillis since the epoch
     */
    public boolean isExpired(long nowMillis)
    {
        return isExpired(expirySeconds, nowMillis);
    }

    /**
     * The same of an expiry by itself.
     */
    public static boolean isExpired(long expirySeconds, long nowMillis)
    {
        return expirySeconds != NEVER && expirySeconds <= Math.floorDiv(nowMillis, 1000);
    }
}
