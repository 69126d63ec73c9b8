package io.cachedhive.transport;

import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.transport.WorkerException.Reason;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * A request with one answer, for those who do not wait.
 */
final class Question<T extends Message>
        implements AnswerHandler
{
    private final WorkerLink link;
    private final Class<T> answer;
    private final long timeoutMillis;
    private final CompletableFuture<T> future = new CompletableFuture<>();

    Question(WorkerLink link, Class<T> answer, long timeoutMillis)
    {
        this.link = link;
        this.answer = answer;
        this.timeoutMillis = timeoutMillis;
    }

    CompletableFuture<T> ask(WorkerConnections connections, Message request)
    {
        link.connect().whenComplete((session, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
            }
            else {
                send(session, request);
            }
        });
        if (!future.isDone()) {
            Future<?> timeout = connections.after(timeoutMillis, () -> failed(new WorkerException(
                    Reason.SILENT,
                    "cache worker at %s did not answer within %s ms".formatted(link.endpoint(), timeoutMillis))));
            future.whenComplete((_, _) -> timeout.cancel(false));
        }
        return future;
    }

    private void send(WorkerSession session, Message request)
    {
        if (future.isDone()) {
            return;
        }
        try {
            long id = session.send(request, this);
            // timed out, or given up by whoever asked
            future.whenComplete((_, failure) -> {
                if (failure != null) {
                    session.cancel(id);
                }
            });
        }
        catch (WorkerException e) {
            future.completeExceptionally(e);
        }
    }

    @Override
    public int maxPayloadBytes()
    {
        return 0;
    }

    @Override
    public int maxBodyBytes()
    {
        return FrameHeader.MAX_BODY_BYTES;
    }

    @Override
    public boolean answered(Message message)
    {
        if (answer.isInstance(message)) {
            future.complete(answer.cast(message));
        }
        else if (message instanceof ReadMessage.BlockNo no) {
            failed(WorkerException.no(link.endpoint(), no.cause()));
        }
        else if (message instanceof ControlMessage.Error error) {
            failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s refuses: %s".formatted(link.endpoint(), error.message())));
        }
        else {
            failed(new WorkerException(Reason.PROTOCOL, "cache worker at %s answers with %s instead of %s".formatted(link.endpoint(), message.type(), answer.getSimpleName())));
        }
        return true;
    }

    @Override
    public void failed(WorkerException reason)
    {
        future.completeExceptionally(reason);
    }
}
