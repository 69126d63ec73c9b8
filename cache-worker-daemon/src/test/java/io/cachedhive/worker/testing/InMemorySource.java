package io.cachedhive.worker.testing;

import io.cachedhive.worker.origin.ObjectRange;
import io.cachedhive.worker.origin.ObjectSource;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.ObjectState;
import io.cachedhive.worker.origin.OriginObserver;
import io.cachedhive.worker.origin.S3ObjectLocation;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An object store on the heap, with its own clock and with failures to order.
 */
public final class InMemorySource
        implements ObjectSource
{
    private final Supplier<Instant> clock;
    private final Map<S3ObjectLocation, StoredObject> objects = new HashMap<>();
    private final List<Get> gets = new ArrayList<>();
    private int heads;
    private Optional<Reason> failure = Optional.empty();
    private int refusals;
    private int maxAttempts = 20;
    private Optional<OriginObserver> observer = Optional.empty();
    private boolean ignoresIfMatch;
    private boolean tellsEtag = true;
    private long breakAfterBytes = Long.MAX_VALUE;
    private int breaks;
    private Runnable beforeBody = () -> {};

    public record Get(long position, long length, Optional<String> ifMatch) {}

    private record StoredObject(byte[] bytes, String etag, Instant lastModified) {}

    public InMemorySource(Supplier<Instant> clock)
    {
        this.clock = clock;
    }

    public synchronized void put(S3ObjectLocation location, byte[] bytes, String etag, Instant lastModified)
    {
        objects.put(location, new StoredObject(bytes, etag, lastModified));
    }

    public synchronized void failWith(Optional<Reason> failure)
    {
        this.failure = failure;
    }

    /**
     * So many of the next requests are refused as too many.
     */
    public synchronized void refuse(int count)
    {
        refusals = count;
    }

    /**
     * Tells of refusals, and of answers to all other requests.
     */
    public synchronized void observe(OriginObserver observer)
    {
        this.observer = Optional.of(observer);
    }

    public synchronized void setMaxAttempts(int maxAttempts)
    {
        this.maxAttempts = maxAttempts;
    }

    public synchronized void ignoreIfMatch()
    {
        ignoresIfMatch = true;
    }

    public synchronized void tellNoEtag()
    {
        tellsEtag = false;
    }

    /**
     * The next so many answers end after so many bytes.
     */
    public synchronized void breakAnswers(int count, long afterBytes)
    {
        breaks = count;
        breakAfterBytes = afterBytes;
    }

    /**
     * Runs when the first byte of an answer is read: its head has been dealt with.
     */
    public synchronized void beforeBody(Runnable beforeBody)
    {
        this.beforeBody = beforeBody;
    }

    public synchronized List<Get> gets()
    {
        return List.copyOf(gets);
    }

    public synchronized int heads()
    {
        return heads;
    }

    @Override
    public ObjectRange open(S3ObjectLocation location, long position, long length, Optional<String> ifMatch)
            throws ObjectSourceException
    {
        StoredObject object;
        long end;
        Runnable hook;
        synchronized (this) {
            gets.add(new Get(position, length, ifMatch));
            object = find(location);
            if (!ignoresIfMatch && ifMatch.isPresent() && !ifMatch.get().equals(object.etag())) {
                throw new ObjectSourceException(Reason.CHANGED, "412", null);
            }
            end = Math.min(object.bytes().length, position + length);
            if (breaks > 0) {
                breaks--;
                end = Math.min(end, position + breakAfterBytes);
            }
            hook = beforeBody;
        }
        return new HeapRange(object.bytes(), (int) position, (int) end, state(object), hook);
    }

    @Override
    public synchronized ObjectState head(S3ObjectLocation location)
            throws ObjectSourceException
    {
        heads++;
        return state(find(location));
    }

    private StoredObject find(S3ObjectLocation location)
            throws ObjectSourceException
    {
        if (failure.isPresent()) {
            throw new ObjectSourceException(failure.get(), "ordered", null);
        }
        if (refusals > 0) {
            refusals--;
            observer.ifPresent(observing -> observing.answered(location.bucket(), 503));
            throw new ObjectSourceException(Reason.THROTTLED, "503", null);
        }
        StoredObject object = objects.get(location);
        if (object == null) {
            throw new ObjectSourceException(Reason.GONE, "404", null);
        }
        observer.ifPresent(observing -> observing.answered(location.bucket(), 206));
        return object;
    }

    private ObjectState state(StoredObject object)
    {
        return new ObjectState(
                object.bytes().length,
                tellsEtag ? Optional.of(object.etag()) : Optional.empty(),
                Optional.of(object.lastModified().truncatedTo(ChronoUnit.SECONDS)),
                Optional.of(clock.get().truncatedTo(ChronoUnit.SECONDS)));
    }

    @Override
    public int maxAttempts()
    {
        return maxAttempts;
    }

    @Override
    public void close() {}

    private static final class HeapRange
            implements ObjectRange
    {
        private final byte[] bytes;
        private final int end;
        private final ObjectState state;
        private final Runnable beforeBody;
        private boolean begun;
        private int position;

        private HeapRange(byte[] bytes, int position, int end, ObjectState state, Runnable beforeBody)
        {
            this.bytes = bytes;
            this.position = position;
            this.end = end;
            this.state = state;
            this.beforeBody = beforeBody;
        }

        @Override
        public ObjectState state()
        {
            return state;
        }

        @Override
        public int read(byte[] buffer, int offset, int length)
                throws IOException
        {
            if (!begun) {
                begun = true;
                beforeBody.run();
            }
            if (position == end) {
                return -1;
            }
            // as a network does, in pieces of any size
            int count = Math.min(Math.min(length, 10_007), end - position);
            System.arraycopy(bytes, position, buffer, offset, count);
            position += count;
            return count;
        }

        @Override
        public void close() {}
    }
}
