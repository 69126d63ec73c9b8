package io.cachedhive.worker.http;

import io.cachedhive.worker.handover.Drain.OpenRequest;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import java.io.IOException;

/**
 * Lets the process answer a request for a drain before it exits. Filters of JAX-RS end before the answer is written, and
 * so this is a servlet filter. Only requests that were permitted to start a drain count, so that others cannot delay the
 * exit.
 */
public final class DrainAnswerFilter
        extends HttpFilter
{
    /**
     * The attribute of a request that has started a drain: its {@link OpenRequest}.
     */
    static final String OPEN_REQUEST = "io.cachedhive.open-request";

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException
    {
        try {
            chain.doFilter(request, response);
            if (request.getAttribute(OPEN_REQUEST) != null) {
                response.flushBuffer();
            }
        }
        finally {
            if (request.getAttribute(OPEN_REQUEST) instanceof OpenRequest open) {
                open.close();
            }
        }
    }
}
