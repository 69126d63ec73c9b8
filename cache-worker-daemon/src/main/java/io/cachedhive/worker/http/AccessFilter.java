package io.cachedhive.worker.http;

import com.google.inject.Inject;
import io.cachedhive.protocol.wire.HttpToken;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;

import static com.google.common.base.Strings.nullToEmpty;
import static java.util.Objects.requireNonNull;

/**
 * Requires a proof of the shared secret ({@link HttpToken}) unless the API listens on a loopback address.
 * {@code /metrics} is open, because monitoring systems cannot sign requests. It contains totals of the whole process,
 * without names of catalogs, tables or files.
 */
@Provider
@PreMatching
public final class AccessFilter
        implements ContainerRequestFilter
{
    private static final String OPEN_PATH = "metrics";

    private final HttpAccess access;

    @Inject
    public AccessFilter(HttpAccess access)
    {
        this.access = requireNonNull(access, "access is null");
    }

    @Override
    public void filter(ContainerRequestContext request)
    {
        if (access.secret().isEmpty() || request.getUriInfo().getPath().equals(OPEN_PATH)) {
            return;
        }
        String authorization = nullToEmpty(request.getHeaderString(HttpHeaders.AUTHORIZATION));
        if (!HttpToken.verify(access.secret().get(), authorization, System.currentTimeMillis())) {
            request.abortWith(Response.status(Response.Status.UNAUTHORIZED)
                    .header(HttpHeaders.WWW_AUTHENTICATE, "Bearer")
                    .type(MediaType.TEXT_PLAIN_TYPE)
                    .entity("the shared secret was not proven, or the clocks differ by more than a minute\n")
                    .build());
        }
    }
}
