package io.cachedhive.store.block;

import static java.util.Objects.requireNonNull;

/**
 * The class and the expiry of a block, set by the read that filled it.
 *
 * @param expirySeconds epoch seconds from which the block is a miss; at most {@link #NEVER}
 */
public record BlockTerms(BlockClass blockClass, long expirySeconds)
{
    /**
     * The expiry of blocks that never expire.
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
     * Returns terms with an expiry rounded down to a second.
     *
     * @param expiryMillis in epoch milliseconds
     */
    public static BlockTerms until(BlockClass blockClass, long expiryMillis)
    {
        return new BlockTerms(blockClass, Math.clamp(Math.floorDiv(expiryMillis, 1000), 0, NEVER));
    }

    /**
     * Returns terms with another class and the same expiry.
     */
    public BlockTerms withClass(BlockClass other)
    {
        return new BlockTerms(other, expirySeconds);
    }

    /**
     * @param nowMillis in epoch milliseconds
     */
    public boolean isExpired(long nowMillis)
    {
        return isExpired(expirySeconds, nowMillis);
    }

    /**
     * Returns whether an expiry has passed.
     */
    public static boolean isExpired(long expirySeconds, long nowMillis)
    {
        return expirySeconds != NEVER && expirySeconds <= Math.floorDiv(nowMillis, 1000);
    }
}
