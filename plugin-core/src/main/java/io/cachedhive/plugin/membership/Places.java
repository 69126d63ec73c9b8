package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.time.ClockSkew;
import io.cachedhive.protocol.wire.StatusMessage.Pong;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;

import static io.cachedhive.plugin.membership.PlaceState.ANSWERING;
import static io.cachedhive.plugin.membership.PlaceState.DEAD;
import static io.cachedhive.plugin.membership.PlaceState.GRACE;
import static io.cachedhive.plugin.membership.PlaceState.UNSEEN;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;

/**
 * The places of a cluster, and the ring that follows from them. Knows no clock, no network and no threads: it is told what happened and when, in
 * milliseconds of a clock that only goes forward.
 *
 * <p>A place exists while its Trino worker is active or its cache worker answers, and, if its cache worker ever answered, for the grace period after.
 * A drain ends it at once. While the places whose cache worker answers, or answered within the grace period, are at least the minimum live share of all,
 * they alone are on the ring. Below, all places are, lest the few that live are swamped: the others' chunks are then read from the origin.
 *
 * <p>What holds between calls:
 * <ul>
 * <li>no two places have the same address, nor the same cache worker, and {@code addressesByWorker} has the place of each;
 * <li>the ring changes its members at most once in {@link #RING_CHANGE_INTERVAL_MILLIS}, but that a drain, which has a deadline, is not held back. The first ring waits
 * until no more Trino workers join and all cache workers answer, but not longer than {@link #FIRST_RING_WAIT_MILLIS} after the last one joined;
 * <li>of two rings of this coordinator the later one has the later time, and a later time than any ring of others that was seen before it, except
 * for rings that cache workers refused because this clock was far ahead;
 * <li>rings of others are adopted only at the start: two coordinators, or two catalogs, whose settings differ would otherwise take turns.
 * </ul>
 */
public final class Places
{
    public static final long RING_CHANGE_INTERVAL_MILLIS = 10_000;
    static final long FIRST_RING_SETTLE_MILLIS = 1_000;
    static final long FIRST_RING_WAIT_MILLIS = 2_000;

    private final int workerPort;
    private final long gracePeriodMillis;
    private final double minLiveShare;
    private final long maxWeightBytes;

    private final Map<WorkerAddress, PlaceRecord> places = new TreeMap<>(Comparator.comparing(WorkerAddress::host).thenComparingInt(WorkerAddress::port));
    private final Map<CacheWorkerId, WorkerAddress> addressesByWorker = new HashMap<>();
    private TrinoNodes nodes = new TrinoNodes(Map.of());
    private long nodesChangedMillis;
    private Optional<PublishedRing> ring = Optional.empty();
    private long ringChangedMillis;
    // when the first ring of others was adopted
    private OptionalLong adoptedMillis = OptionalLong.empty();
    private long latestSeenMillis;

    /**
     * @param workerPort of the cache worker on each Trino worker's host
     * @param maxWeightBytes the largest weight of a cache worker on the ring, whatever weight it declares
     */
    public Places(int workerPort, long gracePeriodMillis, double minLiveShare, long maxWeightBytes)
    {
        this.workerPort = workerPort;
        this.gracePeriodMillis = gracePeriodMillis;
        this.minLiveShare = minLiveShare;
        this.maxWeightBytes = maxWeightBytes;
    }

    /**
     * Tells which Trino workers are active.
     */
    public void nodes(TrinoNodes nodes, long nowMillis)
    {
        requireNonNull(nodes, "nodes is null");
        if (!nodes.equals(this.nodes)) {
            this.nodes = nodes;
            nodesChangedMillis = nowMillis;
        }
        for (String host : nodes.hosts()) {
            places.computeIfAbsent(new WorkerAddress(host, workerPort), _ -> new PlaceRecord()).presentMillis = nowMillis;
        }
    }

    private boolean isBesideTrino(WorkerAddress address)
    {
        return address.port() == workerPort && !nodes.on(address.host()).isEmpty();
    }

    /**
     * Tells that a cache worker answered.
     */
    public void answered(WorkerAddress address, Pong pong, long nowMillis)
    {
        PlaceRecord place = places.get(address);
        if (place == null) {
            // its time was over while it was being asked
            return;
        }
        WorkerAddress known = addressesByWorker.get(pong.worker());
        if (known != null && !known.equals(address)) {
            PlaceRecord elsewhere = places.get(known);
            if (elsewhere.answering) {
                failed(address, "the cache worker on %s has the id of the one on %s, %s: one of them runs on a copy of the other's directory, empty it"
                        .formatted(address, known, pong.worker()));
                return;
            }
            // it moved: the same store at another address
            elsewhere.forgetWorker();
        }
        setWorker(address, place, pong.worker());
        place.weight = Math.clamp(pong.weight(), 1, maxWeightBytes);
        place.zone = pong.zone();
        place.pong = Optional.of(pong);
        place.answering = true;
        place.drained = pong.state().equals("DRAINING");
        place.problem = Optional.empty();
        place.answeredMillis = nowMillis;
        place.presentMillis = nowMillis;
    }

    private void setWorker(WorkerAddress address, PlaceRecord place, CacheWorkerId worker)
    {
        place.worker.ifPresent(addressesByWorker::remove);
        place.worker = Optional.of(worker);
        addressesByWorker.put(worker, address);
    }

    /**
     * Tells that a cache worker did not answer.
     */
    public void failed(WorkerAddress address, String problem)
    {
        PlaceRecord place = places.get(address);
        if (place != null) {
            place.answering = false;
            place.problem = Optional.of(problem);
        }
    }

    /**
     * Tells that a cache worker has a ring of the time, whoever published it.
     */
    public void seen(long publishedMillis)
    {
        latestSeenMillis = Math.max(latestSeenMillis, publishedMillis);
    }

    /**
     * Whether this coordinator is starting, and takes over the newest ring that the cache workers know.
     */
    public boolean mayAdopt(long nowMillis)
    {
        return adoptedMillis.isPresent() ? nowMillis - adoptedMillis.getAsLong() < FIRST_RING_WAIT_MILLIS : ring.isEmpty();
    }

    /**
     * Takes over a ring that another coordinator, or this one before its restart, published: its members have the grace period to answer. Does nothing once this
     * coordinator has its own ring.
     */
    public void adopt(PublishedRing published, long nowMillis)
    {
        if (!mayAdopt(nowMillis) || (ring.isPresent() && ring.get().publishedMillis() >= published.publishedMillis())) {
            return;
        }
        if (adoptedMillis.isEmpty()) {
            adoptedMillis = OptionalLong.of(nowMillis);
        }
        for (RingMember member : published.ring().members()) {
            Optional<WorkerAddress> address = published.address(member.id());
            if (address.isEmpty() || addressesByWorker.containsKey(member.id())) {
                continue;
            }
            PlaceRecord place = places.computeIfAbsent(address.get(), _ -> new PlaceRecord());
            if (place.worker.isEmpty()) {
                setWorker(address.get(), place, member.id());
                place.weight = Math.min(member.weight(), maxWeightBytes);
                place.zone = member.zone();
                place.answeredMillis = nowMillis;
                place.presentMillis = nowMillis;
            }
        }
        ring = Optional.of(published);
        ringChangedMillis = nowMillis;
    }

    /**
     * Forgets places whose time is over, and changes the ring if it is time to.
     *
     * @param wallMillis milliseconds since the epoch, the time of a ring that is made now
     */
    public void advance(long nowMillis, long wallMillis)
    {
        places.entrySet().removeIf(entry -> {
            if (!isOver(entry.getKey(), entry.getValue(), nowMillis)) {
                return false;
            }
            entry.getValue().worker.ifPresent(addressesByWorker::remove);
            return true;
        });

        Optional<PublishedRing> desired = desiredRing(nowMillis, wallMillis);
        if (desired.isEmpty()) {
            return;
        }
        if (ring.isPresent() && ring.get().epoch().equals(desired.get().epoch())) {
            if (!ring.get().addresses().equals(desired.get().addresses()) || isRefused(ring.get().publishedMillis(), wallMillis)) {
                // moves no chunk
                ring = desired;
            }
            return;
        }
        boolean due = ring.isPresent() ?
                nowMillis - ringChangedMillis >= RING_CHANGE_INTERVAL_MILLIS || isMemberDrained(ring.get()) :
                isFirstRingDue(nowMillis);
        if (due) {
            ring = desired;
            ringChangedMillis = nowMillis;
        }
    }

    private boolean isOver(WorkerAddress address, PlaceRecord place, long nowMillis)
    {
        if (place.answering || isBesideTrino(address)) {
            return false;
        }
        return place.worker.isEmpty() || nowMillis - place.presentMillis >= gracePeriodMillis;
    }

    private boolean isMemberDrained(PublishedRing published)
    {
        return places.values().stream()
                .filter(place -> place.drained)
                .anyMatch(place -> place.worker.flatMap(published.ring()::member).isPresent());
    }

    private boolean isFirstRingDue(long nowMillis)
    {
        long settledMillis = nowMillis - nodesChangedMillis;
        boolean allAnswer = places.values().stream().allMatch(place -> place.answering);
        return settledMillis >= (allAnswer ? FIRST_RING_SETTLE_MILLIS : FIRST_RING_WAIT_MILLIS);
    }

    private Optional<PublishedRing> desiredRing(long nowMillis, long wallMillis)
    {
        List<Map.Entry<WorkerAddress, PlaceRecord>> candidates = places.entrySet().stream()
                .filter(entry -> !entry.getValue().drained)
                .toList();
        List<Map.Entry<WorkerAddress, PlaceRecord>> live = candidates.stream()
                .filter(entry -> isLive(entry.getValue(), nowMillis))
                .toList();
        if (live.isEmpty()) {
            // a ring without a cache worker serves nobody; the one there is stays for when they come back
            return Optional.empty();
        }
        List<Map.Entry<WorkerAddress, PlaceRecord>> members = live.size() >= minLiveShare * candidates.size() ? live : candidates;
        if (members.size() > PublishedRing.MAX_MEMBERS) {
            // all coordinators leave out the same ones; chunks have owners among the others
            members = members.stream()
                    .sorted(Comparator.comparing(entry -> memberId(entry.getKey(), entry.getValue())))
                    .limit(PublishedRing.MAX_MEMBERS)
                    .toList();
        }

        long meanWeight = Math.max(1, (long) live.stream().mapToLong(entry -> entry.getValue().weight).average().orElseThrow());
        HashRing hashRing = ring(members.stream()
                .map(entry -> new RingMember(
                        memberId(entry.getKey(), entry.getValue()),
                        entry.getValue().worker.isPresent() ? entry.getValue().weight : meanWeight,
                        entry.getValue().zone))
                .toList());
        Map<CacheWorkerId, WorkerAddress> addresses = live.stream()
                .filter(entry -> hashRing.member(memberId(entry.getKey(), entry.getValue())).isPresent())
                .collect(toMap(entry -> memberId(entry.getKey(), entry.getValue()), Map.Entry::getKey));
        long publishedMillis = LongStream.of(latestSeenMillis, ring.map(PublishedRing::publishedMillis).orElse(0L))
                .filter(millis -> !isRefused(millis, wallMillis))
                .map(millis -> millis + 1)
                .reduce(wallMillis, Math::max);
        return Optional.of(new PublishedRing(hashRing, addresses, publishedMillis));
    }

    /**
     * Whether cache workers refuse rings of the time, as they do after this clock was far ahead and was corrected: all later rings would be dated after it. A time that
     * they know is right, and this clock is behind.
     */
    private boolean isRefused(long publishedMillis, long wallMillis)
    {
        return ClockSkew.isAhead(publishedMillis, wallMillis) && places.values().stream()
                .flatMap(place -> place.pong.stream())
                .noneMatch(pong -> pong.newestRingPublishedMillis() >= publishedMillis);
    }

    /**
     * The same ring as long as it has the same members: a new one costs a digest for each of them, and this is asked many times a second.
     */
    private HashRing ring(List<RingMember> members)
    {
        if (ring.isPresent()) {
            HashRing current = ring.get().ring();
            boolean same = members.size() == current.members().size() &&
                    members.stream().allMatch(member -> current.member(member.id()).filter(member::equals).isPresent());
            if (same) {
                return current;
            }
        }
        return HashRing.of(members);
    }

    private boolean isLive(PlaceRecord place, long nowMillis)
    {
        return state(place, nowMillis).isLive();
    }

    private PlaceState state(PlaceRecord place, long nowMillis)
    {
        if (place.answering) {
            return ANSWERING;
        }
        if (place.worker.isEmpty()) {
            return UNSEEN;
        }
        return nowMillis - place.answeredMillis < gracePeriodMillis ? GRACE : DEAD;
    }

    /**
     * A place without a cache worker has a name all the same, the same for every coordinator.
     */
    private static CacheWorkerId memberId(WorkerAddress address, PlaceRecord place)
    {
        return place.worker.orElseGet(() ->
                new CacheWorkerId("unseen-" + Digest128.sha256(ByteBuffer.wrap(address.toString().getBytes(UTF_8))).toHex()));
    }

    /**
     * Where to ask for cache workers.
     */
    public Set<WorkerAddress> addresses()
    {
        return Set.copyOf(places.keySet());
    }

    /**
     * The ring to publish and to plan by.
     */
    public Optional<PublishedRing> ring()
    {
        return ring;
    }

    public RingView view()
    {
        if (ring.isEmpty()) {
            return RingView.EMPTY;
        }
        Map<CacheWorkerId, List<HostAndPort>> nodesByWorker = new HashMap<>();
        places.forEach((address, place) -> {
            CacheWorkerId id = memberId(address, place);
            if (isBesideTrino(address) && ring.get().ring().member(id).isPresent()) {
                nodesByWorker.put(id, nodes.on(address.host()));
            }
        });
        boolean partial = ring.get().addresses().size() < ring.get().ring().members().size();
        return RingView.of(ring.get().ring(), nodesByWorker, partial);
    }

    /**
     * In the order of their addresses.
     */
    public List<Place> list(long nowMillis)
    {
        List<Place> result = new ArrayList<>();
        places.forEach((address, place) -> result.add(new Place(
                address,
                state(place, nowMillis),
                place.worker,
                place.pong,
                place.problem,
                place.weight,
                place.zone,
                ring.map(published -> published.ring().share(memberId(address, place))).orElse(0.0))));
        return result;
    }

    private static final class PlaceRecord
    {
        private Optional<CacheWorkerId> worker = Optional.empty();
        private Optional<Pong> pong = Optional.empty();
        private Optional<String> problem = Optional.empty();
        private Optional<String> zone = Optional.empty();
        private long weight;
        private boolean answering;
        // stays so when it answers no more
        private boolean drained;
        // when the cache worker answered last
        private long answeredMillis;
        // when the cache worker answered or the Trino worker was active last
        private long presentMillis;

        private void forgetWorker()
        {
            worker = Optional.empty();
            pong = Optional.empty();
            zone = Optional.empty();
            weight = 0;
            drained = false;
        }
    }
}
