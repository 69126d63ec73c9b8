package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;

import java.util.List;
import java.util.Optional;

import static java.util.stream.Collectors.toMap;

/**
 * The encodings of values that are used outside of messages too.
 */
public final class WireForms
{
    private WireForms() {}

    /**
     * Writes a tombstone. Workers store tombstones in this encoding.
     */
    public static void writeTombstone(WireWriter writer, Tombstone tombstone)
    {
        writer.putDigest(tombstone.id()).putDigest(tombstone.origin().digest()).putString(tombstone.location()).putLong(tombstone.createdMillis());
    }

    public static Tombstone readTombstone(WireReader reader)
            throws WireException
    {
        return new Tombstone(reader.getDigest(), new OriginId(reader.getDigest()), reader.getString(), reader.getLong());
    }

    /**
     * Writes a pin. Workers store pins in this encoding.
     */
    public static void writePin(WireWriter writer, Pin pin)
    {
        writer.putDigest(pin.id()).putDigest(pin.origin().digest())
                .putString(pin.location())
                .putString(pin.table())
                .putOptionalString(pin.partition())
                .putBoolean(pin.pinned())
                .putLong(pin.createdMillis());
    }

    public static Pin readPin(WireReader reader)
            throws WireException
    {
        return new Pin(
                reader.getDigest(),
                new OriginId(reader.getDigest()),
                reader.getString(),
                reader.getString(),
                reader.getOptionalString(),
                reader.getBoolean(),
                reader.getLong());
    }

    /**
     * Writes a ring. The shared-memory file contains rings in this encoding.
     */
    public static void writeRing(WireWriter writer, PublishedRing published)
    {
        writer.putLong(published.publishedMillis())
                .putList(published.ring().members(), (out, member) -> {
                    out.putString(member.id().value()).putLong(member.weight()).putOptionalString(member.zone());
                    Optional<WorkerAddress> address = published.address(member.id());
                    out.putBoolean(address.isPresent());
                    address.ifPresent(value -> out.putString(value.host()).putInt(value.port()));
                });
    }

    public static PublishedRing readRing(WireReader reader)
            throws WireException
    {
        record Place(RingMember member, Optional<WorkerAddress> address) {}

        long publishedMillis = reader.getLong();
        // before the members are read: a ring computes a digest for each of them
        List<Place> places = reader.getList(PublishedRing.MAX_MEMBERS, in -> new Place(
                new RingMember(new CacheWorkerId(in.getString()), in.getLong(), in.getOptionalString()),
                in.getBoolean() ? Optional.of(new WorkerAddress(in.getString(), in.getInt())) : Optional.empty()));
        return new PublishedRing(
                HashRing.of(places.stream().map(Place::member).toList()),
                places.stream()
                        .filter(place -> place.address().isPresent())
                        .collect(toMap(place -> place.member().id(), place -> place.address().orElseThrow())),
                publishedMillis);
    }

    /**
     * Copies a list of a message.
     *
     * @param name the plural name of the elements, for the error message
     * @throws IllegalArgumentException if there are more than {@code maxCount} elements
     */
    static <T> List<T> copyOfAtMost(int maxCount, List<T> elements, String name)
    {
        if (elements.size() > maxCount) {
            throw new IllegalArgumentException("more than %s %s at once: %s".formatted(maxCount, name, elements.size()));
        }
        return List.copyOf(elements);
    }
}
