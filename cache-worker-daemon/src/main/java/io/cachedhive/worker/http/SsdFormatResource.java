package io.cachedhive.worker.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.inject.Inject;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.worker.service.CacheWorkerService;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;

import java.util.List;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static jakarta.ws.rs.core.MediaType.APPLICATION_JSON;
import static java.util.Objects.requireNonNull;

/**
 * Reports and raises the format version of the SSD directories. After an upgrade, directories keep the previous version
 * to permit a rollback, until an operator raises it.
 */
@Path("/v1/ssd-format")
@Produces(APPLICATION_JSON)
public final class SsdFormatResource
{
    private final CacheWorkerService worker;

    @Inject
    public SsdFormatResource(CacheWorkerService worker)
    {
        this.worker = requireNonNull(worker, "worker is null");
    }

    /**
     * The format versions.
     *
     * @param newest the newest version that this release writes
     * @param directories the directories that are online
     */
    public record SsdFormatState(@JsonProperty("newest") int newest, @JsonProperty("directories") List<DirectoryFormat> directories) {}

    public record DirectoryFormat(@JsonProperty("directory") String directory, @JsonProperty("version") int version) {}

    @GET
    public SsdFormatState state()
    {
        BlockStore store = worker.store();
        return new SsdFormatState(
                store.ssdFormats().newest(),
                store.ssdFormats().versions().entrySet().stream()
                        .map(entry -> new DirectoryFormat(entry.getKey().toString(), entry.getValue()))
                        .collect(toImmutableList()));
    }

    /**
     * Raises all directories to the newest version.
     */
    @POST
    public SsdFormatState raise()
    {
        try {
            worker.store().ssdFormats().raise();
        }
        catch (StoreException e) {
            throw new WebApplicationException(Response.status(Response.Status.CONFLICT).type(MediaType.TEXT_PLAIN_TYPE).entity(e.getMessage() + "\n").build());
        }
        return state();
    }
}
