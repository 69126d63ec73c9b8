package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The state of one file of which a split was given bytes. Decides whether further bytes may be given, so that all of them are of one state.
 *
 * <p>Bytes of the cache are bytes of the file version, under one ETag. Bytes of the origin are of whatever state the file has when they are read,
 * and carry nothing that names it. So wherever both meet, the origin is asked for the file's length and last-modified time after its bytes
 * were received: a replacement before that moment shows. That request is made once, and only where both kinds of bytes meet.
 *
 * <pre>
 *   NOTHING --cached bytes--> CACHED --origin's bytes, and the file is unchanged--> CONFIRMED
 *      |                        |
 *      |                        +-----origin's bytes, or a worker that knows, and the file was replaced--> the read fails
 *      |
 *      +--origin's bytes--> ORIGIN --cached bytes, and the file is unchanged--> CONFIRMED
 *                             |
 *                             +-----cached bytes, and the file was replaced, or the origin does not say--> ORIGIN, for good
 * </pre>
 *
 * <p>Safe for use by several threads. The lock is held while the origin is asked: other readers of the file in this split need the answer too.
 */
final class DeliveredState
{
    private enum Delivered
    {
        NOTHING,
        CACHED,
        ORIGIN,
        /**
         * Bytes of the cache, and bytes of the origin that were found to be of the same state.
         */
        CONFIRMED,
    }

    private final FileVersion file;

    // written under the lock
    private volatile Delivered delivered = Delivered.NOTHING;
    // the ETag of cached bytes; valid once it is known
    private volatile boolean etagKnown;
    private volatile long etagDigest;
    // why the cache is not asked for this file any more; null while it is asked
    private volatile BypassCause bypass;
    private volatile boolean replaced;

    DeliveredState(FileVersion file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    FileVersion file()
    {
        return file;
    }

    /**
     * Another version of the file is opened. Without cached bytes nothing speaks against it, and none of this version are delivered from now on.
     *
     * @return whether that version may be read
     */
    synchronized boolean giveWayTo(FileVersion other)
    {
        if (file.equals(other) || hasCachedBytes()) {
            return false;
        }
        giveUp(BypassCause.VERSION_GONE, true);
        return true;
    }

    /**
     * Why the cache is not asked for this file any more; empty while it is asked.
     */
    Optional<BypassCause> bypass()
    {
        return Optional.ofNullable(bypass);
    }

    enum Comparison
    {
        SAME,
        /**
         * Two states of the file.
         */
        DIFFERENT,
        /**
         * One of the two carries no ETag, so that nothing is known.
         */
        UNKNOWN,
    }

    /**
     * Compares the ETag of a cached block with that of all blocks before it.
     */
    Comparison compare(long digest)
    {
        if (!etagKnown) {
            synchronized (this) {
                if (!etagKnown) {
                    etagDigest = digest;
                    etagKnown = true;
                }
            }
        }
        if (etagDigest == digest) {
            return Comparison.SAME;
        }
        return etagDigest == ETags.NONE || digest == ETags.NONE ? Comparison.UNKNOWN : Comparison.DIFFERENT;
    }

    boolean hasCachedBytes()
    {
        return delivered == Delivered.CACHED || delivered == Delivered.CONFIRMED;
    }

    /**
     * The cache is not asked for this file any more.
     *
     * @param replaced whether the file is known to have been replaced
     * @return whether the cache was asked until now
     */
    synchronized boolean giveUp(BypassCause cause, boolean replaced)
    {
        this.replaced |= replaced;
        if (bypass != null) {
            return false;
        }
        bypass = cause;
        return true;
    }

    /**
     * Whether the file is known to have been replaced.
     */
    boolean isReplaced()
    {
        return replaced;
    }

    /**
     * What was delivered decides whether the new state of a replaced file may be read.
     *
     * @throws FileReplacedException if the file was replaced after bytes of the state before were delivered
     */
    void failIfReplaced()
            throws FileReplacedException
    {
        if (replaced && hasCachedBytes()) {
            throw new FileReplacedException(file.location());
        }
    }

    /**
     * To be called before cached bytes are given to the reader.
     *
     * @return false if they may not be given, since bytes of the origin were, and may be of another state
     */
    boolean deliverCached(OriginInput origin)
            throws InterruptedIOException
    {
        if (hasCachedBytes()) {
            return true;
        }
        return deliverFirstCached(origin);
    }

    private synchronized boolean deliverFirstCached(OriginInput origin)
            throws InterruptedIOException
    {
        switch (delivered) {
            case NOTHING -> {
                if (replaced) {
                    return false;
                }
                delivered = Delivered.CACHED;
            }
            case ORIGIN -> {
                if (bypass != null) {
                    return false;
                }
                try {
                    if (!isUnchanged(origin.current())) {
                        replaced = true;
                        return false;
                    }
                }
                catch (FileNotFoundException e) {
                    replaced = true;
                    return false;
                }
                catch (IOException e) {
                    if (Thread.currentThread().isInterrupted()) {
                        throw interrupted(e);
                    }
                    // the split stays with the origin, which says what is wrong with it
                    bypass = BypassCause.ORIGIN_FAILED;
                    return false;
                }
                delivered = Delivered.CONFIRMED;
            }
            case CACHED, CONFIRMED -> {}
        }
        return true;
    }

    /**
     * To be called when bytes of the origin were received, before they are given to the reader.
     *
     * @param continued whether the same stream was given other bytes before, which plain Hive would have read by the same request
     * @throws FileReplacedException if the bytes may be of another state than those that were given before
     */
    void deliverOrigin(OriginInput origin, boolean continued)
            throws IOException
    {
        failIfReplaced();
        Delivered before = delivered;
        if (!continued && (before == Delivered.ORIGIN || before == Delivered.CONFIRMED)) {
            return;
        }
        deliverFirstOrigin(origin, continued);
    }

    private synchronized void deliverFirstOrigin(OriginInput origin, boolean continued)
            throws IOException
    {
        if (delivered == Delivered.NOTHING) {
            delivered = Delivered.ORIGIN;
            return;
        }
        failIfReplaced();
        if (delivered != Delivered.CACHED && !continued) {
            return;
        }
        FileState current;
        try {
            current = origin.current();
        }
        catch (FileNotFoundException e) {
            replaced = true;
            throw new FileReplacedException(file.location());
        }
        catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw interrupted(e);
            }
            throw new IOException("cannot find out whether file %s was replaced while it was read: %s".formatted(file.location(), e.getMessage()), e);
        }
        if (!isUnchanged(current)) {
            replaced = true;
            throw new FileReplacedException(file.location());
        }
        delivered = Delivered.CONFIRMED;
    }

    /**
     * To be called when a read of the origin failed.
     *
     * @throws FileReplacedException if it failed because the file was replaced after cached bytes of it were delivered
     */
    void failIfReplaced(OriginInput origin)
            throws IOException
    {
        failIfReplaced();
        boolean unchanged;
        try {
            unchanged = !hasCachedBytes() || isUnchanged(origin.current());
        }
        catch (FileNotFoundException e) {
            unchanged = false;
        }
        if (!unchanged) {
            replaced = true;
            throw new FileReplacedException(file.location());
        }
    }

    private boolean isUnchanged(FileState current)
    {
        return file.matches(current.length(), current.lastModifiedMillis());
    }

    private static InterruptedIOException interrupted(IOException cause)
    {
        InterruptedIOException interrupted = new InterruptedIOException("interrupted while reading from the origin: " + cause.getMessage());
        interrupted.initCause(cause);
        return interrupted;
    }
}
