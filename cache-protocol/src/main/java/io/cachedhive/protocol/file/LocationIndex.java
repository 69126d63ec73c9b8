package io.cachedhive.protocol.file;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * An index of values that have a location, such as tombstones and pins. It finds the values that cover a file, in one
 * lookup per directory of the file's location, and the values within a location. A location that ends in {@code /}
 * covers all locations with that prefix; any other location covers only itself. Concurrent reads are safe while no
 * thread modifies the index.
 */
public final class LocationIndex<T>
{
    private static final Comparator<Place> ORDER = Comparator.comparing((Place place) -> place.origin().digest()).thenComparing(Place::location);

    private final Function<T, OriginId> origin;
    private final Function<T, String> location;
    private final Map<Place, List<T>> places = new HashMap<>();
    private final NavigableSet<Place> ordered = new TreeSet<>(ORDER);

    private record Place(OriginId origin, String location) {}

    public LocationIndex(Function<T, OriginId> origin, Function<T, String> location)
    {
        this.origin = requireNonNull(origin, "origin is null");
        this.location = requireNonNull(location, "location is null");
    }

    public static LocationIndex<Tombstone> ofTombstones(Collection<Tombstone> tombstones)
    {
        LocationIndex<Tombstone> index = new LocationIndex<>(Tombstone::origin, Tombstone::location);
        tombstones.forEach(index::add);
        return index;
    }

    public static LocationIndex<Pin> ofPins(Collection<Pin> pins)
    {
        LocationIndex<Pin> index = new LocationIndex<>(Pin::origin, Pin::location);
        pins.forEach(index::add);
        return index;
    }

    public void add(T value)
    {
        Place place = place(value);
        places.computeIfAbsent(place, _ -> new ArrayList<>(1)).add(value);
        ordered.add(place);
    }

    public void remove(T value)
    {
        Place place = place(value);
        List<T> there = places.get(place);
        if (there != null && there.remove(value) && there.isEmpty()) {
            places.remove(place);
            ordered.remove(place);
        }
    }

    private Place place(T value)
    {
        return new Place(origin.apply(value), location.apply(value));
    }

    public boolean isEmpty()
    {
        return places.isEmpty();
    }

    public boolean covers(FileVersion file)
    {
        return !places.isEmpty() && !covering(file.origin(), file.location()).isEmpty();
    }

    /**
     * Returns the values that cover a location, the shortest location first.
     */
    public List<T> covering(OriginId origin, String location)
    {
        List<T> found = new ArrayList<>();
        for (int slash = location.indexOf('/'); slash >= 0 && slash < location.length() - 1; slash = location.indexOf('/', slash + 1)) {
            found.addAll(places.getOrDefault(new Place(origin, location.substring(0, slash + 1)), List.of()));
        }
        found.addAll(places.getOrDefault(new Place(origin, location), List.of()));
        return found;
    }

    /**
     * Returns the values whose location the given location covers.
     */
    public List<T> within(OriginId origin, String location)
    {
        if (!location.endsWith("/")) {
            return List.copyOf(places.getOrDefault(new Place(origin, location), List.of()));
        }
        List<T> found = new ArrayList<>();
        for (Place place : ordered.tailSet(new Place(origin, location), true)) {
            if (!place.origin().equals(origin) || !place.location().startsWith(location)) {
                break;
            }
            found.addAll(places.get(place));
        }
        return found;
    }
}
