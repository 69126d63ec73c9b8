package io.cachedhive.worker.http;

import com.google.inject.Inject;
import io.cachedhive.protocol.security.HttpProof;
import io.cachedhive.protocol.security.HttpProof.Request;
import io.cachedhive.worker.http.MetricsConfig.Authentication;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.Response.ResponseBuilder;
import jakarta.ws.rs.ext.Provider;

import java.net.URI;
import java.util.Optional;

import static com.google.common.base.Strings.nullToEmpty;
import static java.util.Objects.requireNonNull;

/**
 * Requires a proof of the shared secret ({@link HttpProof}) on all addresses, including loopback addresses, which all
 * users of the host reach. Without a secret, only the status, the health and the metrics can be read. {@code /v1/health}
 * is always open, because probes cannot sign requests.
 * <p>
 * {@code /metrics} is open by default, because monitoring systems cannot sign requests. It contains totals of the whole
 * process, without names of catalogs, tables or files.
 */
@Provider
@PreMatching
public final class AccessFilter
        implements ContainerRequestFilter
{
    private static final String METRICS_PATH = "metrics";
    private static final String STATUS_PATH = "v1/status";
    private static final String BEARER = "Bearer ";

    private final HttpAccess access;

    @Inject
    public AccessFilter(HttpAccess access)
    {
        this.access = requireNonNull(access, "access is null");
    }

    @Override
    public void filter(ContainerRequestContext request)
    {
        String path = request.getUriInfo().getPath();
        String authorization = nullToEmpty(request.getHeaderString(HttpHeaders.AUTHORIZATION));
        boolean metrics = path.equals(METRICS_PATH);
        if (metrics && (access.metricsAuthentication() == Authentication.NONE || isMetricsToken(authorization))) {
            return;
        }
        if (path.equals(HealthResource.PATH) && request.getMethod().equals(HttpMethod.GET)) {
            return;
        }
        if (access.secrets().isEmpty()) {
            if (!path.equals(STATUS_PATH) || !request.getMethod().equals(HttpMethod.GET)) {
                request.abortWith(refusal(
                        Response.status(Response.Status.FORBIDDEN),
                        "this cache worker has no shared secret and answers only GET /v1/status, GET /v1/health and GET /metrics: set internal-communication.shared-secret"));
            }
            return;
        }
        Optional<String> problem = access.challenges().problem(access.secrets().valid(), signed(request), authorization);
        if (problem.isPresent()) {
            ResponseBuilder response = Response.status(Response.Status.UNAUTHORIZED)
                    .header(HttpHeaders.WWW_AUTHENTICATE, access.challenges().issue().header());
            if (metrics && access.metricsToken().isPresent()) {
                response.header(HttpHeaders.WWW_AUTHENTICATE, BEARER.strip());
            }
            request.abortWith(refusal(response, problem.get()));
        }
    }

    private boolean isMetricsToken(String authorization)
    {
        return authorization.startsWith(BEARER) && access.isMetricsToken(authorization.substring(BEARER.length()).strip());
    }

    private static Request signed(ContainerRequestContext request)
    {
        URI uri = request.getUriInfo().getRequestUri();
        return Request.of(request.getMethod(), uri, nullToEmpty(request.getHeaderString(HttpHeaders.HOST)));
    }

    private static Response refusal(ResponseBuilder response, String reason)
    {
        return response.type(MediaType.TEXT_PLAIN_TYPE).entity(reason + "\n").build();
    }
}
