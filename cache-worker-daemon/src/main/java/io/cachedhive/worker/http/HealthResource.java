package io.cachedhive.worker.http;

import com.google.inject.Inject;
import io.cachedhive.worker.service.CacheWorkerService;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Response;

import static jakarta.ws.rs.core.MediaType.TEXT_PLAIN;
import static java.util.Objects.requireNonNull;

/**
 * Reports whether the worker serves reads, for probes of load balancers and Kubernetes. Needs no proof, and reports nothing but the state.
 */
@Path("/" + HealthResource.PATH)
public final class HealthResource
{
    static final String PATH = "v1/health";
    private static final String SERVING = "RUNNING";

    private final CacheWorkerService worker;

    @Inject
    public HealthResource(CacheWorkerService worker)
    {
        this.worker = requireNonNull(worker, "worker is null");
    }

    /**
     * Returns the status 200 if the worker is RUNNING, and 503 if it is DRAINING or STOPPING.
     */
    @GET
    @Produces(TEXT_PLAIN)
    public Response health()
    {
        String state = worker.status().pong().state();
        return Response.status(state.equals(SERVING) ? Response.Status.OK : Response.Status.SERVICE_UNAVAILABLE)
                .entity(state + "\n")
                .build();
    }
}
