package io.cachedhive.chaos.fault;

/**
 * Ends a fault.
 */
interface Undo
{
    void run()
            throws Exception;
}
