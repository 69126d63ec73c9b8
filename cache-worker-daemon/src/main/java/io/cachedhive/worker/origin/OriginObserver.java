package io.cachedhive.worker.origin;

/**
 * Is told of every single HTTP request to an origin, also of those that the SDK repeats on its own.
 */
public interface OriginObserver
{
    enum Operation
    {
        GET,
        HEAD,
    }

    void requested(Operation operation);

    /**
     * The request that was just told of is one that the SDK made before.
     */
    void repeated();

    /**
     * @param status of HTTP
     */
    void answered(String bucket, int status);

    void received(long bytes);
}
