package io.cachedhive.worker.origin;

/**
 * Observes every HTTP request to an origin, including retries by the SDK.
 */
public interface OriginObserver
{
    enum Operation
    {
        GET,
        HEAD,
    }

    void requestSent(Operation operation);

    /**
     * Called after {@link #requestSent} if the request is a retry by the SDK.
     */
    void repeated();

    /**
     * Called for each response.
     *
     * @param status the HTTP status code
     */
    void answered(String bucket, int status);

    void received(long bytes);
}
