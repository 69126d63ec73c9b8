package io.cachedhive.worker.http;

import com.google.inject.Inject;
import io.cachedhive.worker.handover.Drain;
import io.cachedhive.worker.handover.Drain.OpenRequest;
import io.cachedhive.worker.service.CacheWorkerService;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import java.io.IOException;

/**
 * Lets the process answer a request for a drain before it exits. Filters of JAX-RS end before the answer is written, and
 * so this is a servlet filter.
 */
public final class DrainAnswerFilter
        extends HttpFilter
{
    private final transient Drain drain;

    @Inject
    public DrainAnswerFilter(CacheWorkerService worker)
    {
        this.drain = worker.drain();
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException
    {
        if (!request.getRequestURI().equals(DrainResource.PATH)) {
            chain.doFilter(request, response);
            return;
        }
        try (OpenRequest _ = drain.openRequest()) {
            chain.doFilter(request, response);
            response.flushBuffer();
        }
    }
}
