package io.cachedhive.worker.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.inject.Inject;
import io.airlift.units.Duration;
import io.cachedhive.worker.handover.Drain;
import io.cachedhive.worker.handover.Drain.Progress;
import io.cachedhive.worker.service.CacheWorkerService;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

import java.util.concurrent.TimeUnit;

import static jakarta.ws.rs.core.MediaType.APPLICATION_JSON;

/**
 * Starts, cancels and reports the drain of this worker.
 */
@Path("/v1/drain")
@Produces(APPLICATION_JSON)
public final class DrainResource
{
    private static final String DEFAULT_DEADLINE = "10m";

    private final Drain drain;

    @Inject
    public DrainResource(CacheWorkerService worker)
    {
        this.drain = worker.drain();
    }

    /**
     * The state of the drain.
     *
     * @param state the name of a {@link Drain.State}
     * @param millisLeft milliseconds until the process exits in any case
     * @param blocks blocks to transfer; 0 before the transfer begins
     * @param givenBlocks blocks that their new owners have
     */
    public record DrainState(
            @JsonProperty("state") String state,
            @JsonProperty("millis_left") long millisLeft,
            @JsonProperty("blocks") long blocks,
            @JsonProperty("given_blocks") long givenBlocks) {}

    /**
     * Starts draining, or sets another deadline.
     *
     * @param deadline the time from now, such as {@code 10s} or {@code 5m}
     */
    @POST
    public DrainState start(@QueryParam("deadline") @DefaultValue(DEFAULT_DEADLINE) String deadline, @Context HttpServletRequest request)
    {
        Duration parsed;
        try {
            parsed = Duration.valueOf(deadline);
        }
        catch (IllegalArgumentException _) {
            throw problem(Response.Status.BAD_REQUEST, "deadline=%s is not a duration: write it as 10s, 5m or 1h".formatted(deadline));
        }
        if (parsed.getValue(TimeUnit.DAYS) > 365) {
            throw problem(Response.Status.BAD_REQUEST, "deadline=%s is more than a year".formatted(deadline));
        }
        request.setAttribute(DrainAnswerFilter.OPEN_REQUEST, drain.openRequest());
        return state(drain.start(parsed.toJavaTime()));
    }

    @GET
    public DrainState state()
    {
        return state(drain.progress());
    }

    private static DrainState state(Progress progress)
    {
        return new DrainState(progress.state().name(), progress.millisLeft(), progress.blocks(), progress.givenBlocks());
    }

    @DELETE
    public DrainState cancel()
    {
        if (!drain.cancel()) {
            throw problem(Response.Status.CONFLICT, "this cache worker has left already: start it again when its process has ended");
        }
        return state();
    }

    private static WebApplicationException problem(Response.Status status, String message)
    {
        return new WebApplicationException(Response.status(status).type(MediaType.TEXT_PLAIN_TYPE).entity(message + "\n").build());
    }
}
