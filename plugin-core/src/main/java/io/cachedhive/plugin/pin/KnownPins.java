package io.cachedhive.plugin.pin;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.PinMessage.PinState;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * What cache workers say of what is pinned by name, and which of them say nothing.
 *
 * @param problems a sentence for each worker that says nothing
 */
public record KnownPins(Map<OriginLocation, PinnedPlace> places, List<String> problems)
{
    public KnownPins
    {
        places = ImmutableMap.copyOf(places);
        problems = ImmutableList.copyOf(problems);
    }

    public record OriginLocation(OriginId origin, String location)
    {
        static OriginLocation of(Pin pin)
        {
            return new OriginLocation(pin.origin(), pin.location());
        }
    }

    /**
     * Waits for the answers.
     *
     * @param origins of which places matter
     */
    public static KnownPins of(Map<WorkerAddress, CompletableFuture<List<PinState>>> answers, Set<OriginId> origins)
    {
        Map<OriginLocation, PinnedPlace> places = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        answers.forEach((address, answer) -> {
            try {
                answer.join().stream()
                        .filter(state -> origins.contains(state.pin().origin()))
                        .forEach(state -> places.merge(
                                OriginLocation.of(state.pin()),
                                new PinnedPlace(state.pin(), state.cachedBytes(), state.pinnedBytes()),
                                PinnedPlace::add));
            }
            catch (CompletionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                problems.add("cache worker %s did not report its pinned blocks, which are missing from the other rows: %s".formatted(address, cause.getMessage()));
            }
        });
        return new KnownPins(places, problems);
    }

    /**
     * Of a pin that is newer than all of these.
     */
    public long nextCreatedMillis()
    {
        long newest = places.values().stream().mapToLong(place -> place.pin().createdMillis()).max().orElse(0);
        return Math.max(System.currentTimeMillis(), newest + 1);
    }
}
