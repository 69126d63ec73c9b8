package io.cachedhive.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.transport.WorkerException.Reason;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static java.util.Objects.requireNonNull;

/**
 * The way to one worker, over any number of connections after one another: connects, reconnects in the background, and keeps readers
 * from waiting for a worker that is known to be away.
 *
 * <p>A reader waits for a connection only when there is hope: while the first attempt is under way since the worker was last connected and answered, or
 * was last looked for long ago. All other attempts are made behind the readers' backs.
 */
public final class WorkerLink
{
    // how long after its last use a link goes on looking for its worker
    private static final long USED_NANOS = TimeUnit.SECONDS.toNanos(60);
    // a failed attempt says nothing any more after that time
    private static final long FAILURE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int PROBES_PER_CONNECTION = 5;

    // a cache worker that does not know the preferred secret yet is asked again after that time
    private static final long RENEWAL_NANOS = TimeUnit.SECONDS.toNanos(10);
    // a thread that acquired a connection has sent its request within that time
    private static final long RETIREMENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerConnections connections;
    private final Endpoint endpoint;
    private final ClientIdentity identity;
    private final boolean always;
    private final Listener listener;
    private final Breaker breaker;
    private final LatencyHistogram hits = new LatencyHistogram();
    private final long attemptNanos;
    private final long waitNanos;

    private volatile WorkerSession session;
    private volatile long lastUseNanos;
    // the thread for time only
    private Runnable giveUpProbe = () -> {};
    private volatile int probesUnanswered;

    @GuardedBy("this")
    private CompletableFuture<WorkerSession> attempt;
    @GuardedBy("this")
    private WorkerSession attempted;
    @GuardedBy("this")
    private boolean attemptStarted;
    @GuardedBy("this")
    private int failures;
    @GuardedBy("this")
    private long lastAttemptNanos;
    @GuardedBy("this")
    private Optional<WorkerException> lastFailure = Optional.empty();
    @GuardedBy("this")
    private boolean closed;
    @GuardedBy("this")
    private long lastRenewalNanos;
    // replaced connections, which end with their last request
    @GuardedBy("this")
    private final List<Retired> retired = new ArrayList<>();

    private record Retired(WorkerSession session, long sinceNanos) {}

    WorkerLink(WorkerConnections connections, Endpoint endpoint, ClientIdentity identity, Timeouts timeouts, boolean always, Listener listener)
    {
        this.connections = requireNonNull(connections, "connections is null");
        this.endpoint = requireNonNull(endpoint, "endpoint is null");
        this.identity = requireNonNull(identity, "identity is null");
        this.always = always;
        this.listener = requireNonNull(listener, "listener is null");
        this.breaker = new Breaker(connections::nanoTime, TimeUnit.MILLISECONDS.toNanos(timeouts.probeMillis()));
        this.attemptNanos = TimeUnit.MILLISECONDS.toNanos(timeouts.reconnectMillis());
        this.waitNanos = TimeUnit.MILLISECONDS.toNanos(timeouts.silenceMillis());
        this.lastUseNanos = connections.nanoTime();
        this.lastAttemptNanos = lastUseNanos - FAILURE_NANOS;
        this.lastRenewalNanos = lastUseNanos - RENEWAL_NANOS;
    }

    /**
     * Called on an I/O thread, one at a time.
     */
    public interface Listener
    {
        Listener NONE = new Listener() {};

        /**
         * Before any reader gets the connection.
         */
        default void connected(WorkerSession session) {}

        default void disconnected(WorkerSession session) {}
    }

    public Endpoint endpoint()
    {
        return endpoint;
    }

    /**
     * The connection to use, waited for if there is hope.
     *
     * @throws WorkerException at once if the worker is known to be away or silent, or after the time-out
     */
    public WorkerSession acquire()
            throws WorkerException, InterruptedException
    {
        WorkerSession current = session;
        if (current != null && current.isOpen()) {
            lastUseNanos = connections.nanoTime();
            if (breaker.isOpen()) {
                throw new WorkerException(Reason.BREAKER_OPEN, "cache worker at %s did not answer %s times in a row".formatted(endpoint, Breaker.SILENCES));
            }
            return current;
        }
        CompletableFuture<WorkerSession> hope = connectForReader();
        try {
            return hope.get(waitNanos, TimeUnit.NANOSECONDS);
        }
        catch (TimeoutException e) {
            throw new WorkerException(Reason.SILENT, "cache worker at %s did not accept the connection in time".formatted(endpoint));
        }
        catch (ExecutionException e) {
            throw failure(e);
        }
    }

    /**
     * The connection if there is one, whether or not the breaker is open.
     */
    public Optional<WorkerSession> session()
    {
        return Optional.ofNullable(session).filter(WorkerSession::isOpen);
    }

    /**
     * The connection, or the attempt under way, or a new one if the last is long enough ago; else its failure.
     */
    CompletableFuture<WorkerSession> connect()
    {
        lastUseNanos = connections.nanoTime();
        CompletableFuture<WorkerSession> result;
        synchronized (this) {
            WorkerSession current = session;
            if (current != null && current.isOpen()) {
                return CompletableFuture.completedFuture(current);
            }
            if (attempt == null && !mayAttempt()) {
                return CompletableFuture.failedFuture(unavailable());
            }
            result = attempt();
        }
        startAttempted();
        return result;
    }

    private CompletableFuture<WorkerSession> connectForReader()
            throws WorkerException
    {
        long now = connections.nanoTime();
        lastUseNanos = now;
        CompletableFuture<WorkerSession> result;
        boolean wait;
        synchronized (this) {
            WorkerSession current = session;
            if (current != null && current.isOpen()) {
                return CompletableFuture.completedFuture(current);
            }
            if (attempt == null) {
                if (!mayAttempt()) {
                    throw unavailable();
                }
                if (now - lastAttemptNanos >= FAILURE_NANOS) {
                    failures = 0;
                }
            }
            // a worker that was silent on its last connection will not hurry on the next
            wait = failures == 0 && !breaker.isOpen();
            result = attempt();
        }
        startAttempted();
        if (!wait) {
            synchronized (this) {
                throw unavailable();
            }
        }
        return result;
    }

    @GuardedBy("this")
    private boolean mayAttempt()
    {
        return !closed && connections.nanoTime() - lastAttemptNanos >= attemptNanos;
    }

    @GuardedBy("this")
    private WorkerException unavailable()
    {
        if (closed) {
            return new WorkerException(Reason.CLOSED, "this client is closed");
        }
        return lastFailure.orElseGet(() -> new WorkerException(Reason.UNREACHABLE, "cache worker at %s is not connected".formatted(endpoint)));
    }

    @GuardedBy("this")
    private CompletableFuture<WorkerSession> attempt()
    {
        if (attempt == null) {
            attempt = new CompletableFuture<>();
            lastAttemptNanos = connections.nanoTime();
            attempted = connections.newSession(endpoint, identity, new SessionEvents());
            attemptStarted = false;
        }
        return attempt;
    }

    /**
     * Outside of the lock, since on a closed client the session fails at once.
     */
    private void startAttempted()
    {
        WorkerSession starting;
        synchronized (this) {
            if (attempted == null || attemptStarted) {
                return;
            }
            attemptStarted = true;
            starting = attempted;
        }
        connections.start(starting);
    }

    private WorkerException failure(ExecutionException e)
    {
        return e.getCause() instanceof WorkerException failure ? failure : new WorkerException(Reason.UNREACHABLE, String.valueOf(e.getCause()));
    }

    /**
     * To be called when a read was answered.
     */
    public void answered()
    {
        breaker.answered();
    }

    /**
     * To be called when a read was not answered in time.
     */
    public void silent()
    {
        breaker.silent();
    }

    /**
     * How long the worker took to answer with what it had.
     */
    public LatencyHistogram hits()
    {
        return hits;
    }

    public boolean isBreakerOpen()
    {
        return breaker.isOpen();
    }

    /**
     * What is wrong with the worker, in one sentence; empty while it is used.
     */
    public Optional<String> problem()
    {
        WorkerSession current = session;
        if (current != null && current.isOpen()) {
            if (breaker.isOpen()) {
                return Optional.of("cache worker at %s accepts connections but does not answer: check its log and the load of its host".formatted(endpoint));
            }
            return Optional.empty();
        }
        synchronized (this) {
            return Optional.of(unavailable().getMessage());
        }
    }

    /**
     * Whether it is too early to say how the worker is: not connected, and not yet tried in vain.
     */
    public synchronized boolean isConnecting()
    {
        return failures == 0 && session == null;
    }

    /**
     * Whether nothing was asked of the worker for the time.
     */
    boolean isUnusedFor(long nanos)
    {
        return connections.nanoTime() - lastUseNanos >= nanos;
    }

    /**
     * Begins to connect.
     */
    public void start()
    {
        tick();
    }

    /**
     * Connects anew, probes: to be called several times a second.
     */
    void tick()
    {
        closeRetired();
        WorkerSession current = session;
        if (current == null || !current.isOpen()) {
            if (always || !isUnusedFor(USED_NANOS)) {
                synchronized (this) {
                    if (attempt == null && mayAttempt()) {
                        attempt();
                    }
                }
                startAttempted();
            }
            return;
        }
        if (breaker.claimProbe()) {
            probe(current);
        }
        if (current.isOnFormerSecret()) {
            renew();
        }
    }

    /**
     * Connects with the preferred secret while the connection with the former one stays in use, so that a rotation of
     * the secret costs no read.
     */
    private void renew()
    {
        synchronized (this) {
            if (attempt != null || !mayAttempt() || connections.nanoTime() - lastRenewalNanos < RENEWAL_NANOS) {
                return;
            }
            lastRenewalNanos = connections.nanoTime();
            attempt();
        }
        startAttempted();
    }

    private void closeRetired()
    {
        List<WorkerSession> ended = new ArrayList<>();
        synchronized (this) {
            retired.removeIf(old -> {
                boolean unused = old.session().pendingRequests() == 0 && connections.nanoTime() - old.sinceNanos() >= RETIREMENT_NANOS;
                if (unused) {
                    ended.add(old.session());
                }
                return unused || !old.session().isOpen();
            });
        }
        ended.forEach(WorkerLink::closeReplaced);
    }

    private static void closeReplaced(WorkerSession replaced)
    {
        replaced.close(new WorkerException(Reason.CLOSED, "the connection was replaced by one with the preferred secret"));
    }

    /**
     * The one before is given up: its answer would be no better than none.
     */
    private void probe(WorkerSession current)
    {
        giveUpProbe.run();
        giveUpProbe = () -> {};
        if (probesUnanswered >= PROBES_PER_CONNECTION) {
            // the host may be gone without a word, and one that comes back does not know the connection
            current.close(new WorkerException(Reason.SILENT, "cache worker at %s did not answer %s probes".formatted(endpoint, PROBES_PER_CONNECTION)));
            return;
        }
        probesUnanswered++;
        try {
            long probe = current.send(new StatusMessage.Ping(), new AnswerHandler()
            {
                @Override
                public int maxPayloadBytes()
                {
                    return 0;
                }

                @Override
                public boolean answered(Message message)
                {
                    if (message instanceof StatusMessage.Pong) {
                        probesUnanswered = 0;
                        breaker.probeAnswered();
                    }
                    return true;
                }

                @Override
                public void failed(WorkerException reason) {}
            });
            giveUpProbe = () -> current.cancel(probe);
        }
        catch (WorkerException e) {
            // the next probe may have more luck
        }
    }

    void close()
    {
        List<WorkerSession> open = new ArrayList<>();
        synchronized (this) {
            closed = true;
            if (session != null) {
                open.add(session);
            }
            if (attempted != null) {
                open.add(attempted);
            }
            retired.forEach(old -> open.add(old.session()));
            retired.clear();
        }
        open.forEach(current -> current.close(new WorkerException(Reason.CLOSED, "this client is closed")));
    }

    private final class SessionEvents
            implements WorkerSession.Events
    {
        @Override
        public void established(WorkerSession established)
        {
            breaker.reset();
            probesUnanswered = 0;
            listener.connected(established);
            CompletableFuture<WorkerSession> finished;
            boolean unwanted;
            synchronized (WorkerLink.this) {
                if (session != null && session.isOpen()) {
                    retired.add(new Retired(session, connections.nanoTime()));
                }
                session = established;
                failures = 0;
                lastFailure = Optional.empty();
                finished = attempt;
                attempt = null;
                attempted = null;
                unwanted = closed;
            }
            if (unwanted) {
                established.close(new WorkerException(Reason.CLOSED, "this client is closed"));
            }
            finished.complete(established);
        }

        @Override
        public void closed(WorkerSession lost, WorkerException reason)
        {
            CompletableFuture<WorkerSession> finished = null;
            boolean wasConnected;
            synchronized (WorkerLink.this) {
                wasConnected = session == lost;
                if (!wasConnected && attempted != lost) {
                    // a reader saw before this call that the connection is lost, and the next one is there already
                    return;
                }
                lastFailure = Optional.of(reason);
                if (wasConnected) {
                    session = null;
                    failures = 0;
                }
                else {
                    finished = attempt;
                    attempt = null;
                    attempted = null;
                    failures++;
                }
            }
            if (wasConnected) {
                listener.disconnected(lost);
                // perhaps only the connection was lost
                if (always || !isUnusedFor(USED_NANOS)) {
                    connections.soon(WorkerLink.this::tick);
                }
            }
            else {
                finished.completeExceptionally(reason);
            }
        }
    }
}
