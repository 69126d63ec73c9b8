package io.cachedhive.client;

import io.cachedhive.protocol.file.FileVersion;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The files that one split reads, each with the state of which bytes were delivered. A split may open a file more than once, and all of its
 * reads of a file together deliver one state. Safe for use by several threads.
 */
public final class DeliveredStates
{
    private final ConcurrentMap<String, DeliveredState> states = new ConcurrentHashMap<>();

    /**
     * @throws FileReplacedException if cached bytes of another version of the same file were delivered
     */
    DeliveredState of(FileVersion file)
            throws FileReplacedException
    {
        DeliveredState state = states.compute(file.location(), (_, known) -> known == null || known.giveWayTo(file) ? new DeliveredState(file) : known);
        if (!state.file().equals(file)) {
            throw new FileReplacedException(file.location());
        }
        return state;
    }
}
