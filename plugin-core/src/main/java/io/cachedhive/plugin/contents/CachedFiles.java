package io.cachedhive.plugin.contents;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.ListingMessage;
import io.cachedhive.protocol.wire.ListingMessage.ListedFile;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Asks all cache workers what they have, a slice of all files at a time: those whose ids begin with the same bits, as many as make an answer of a few hundred files. What
 * several workers have of one file is added up, and neither they nor the coordinator ever hold the list of all.
 */
public final class CachedFiles
{
    private static final Logger log = Logger.get(CachedFiles.class);

    // to look through all that a worker has takes it a moment
    private static final long TIMEOUT_MILLIS = 10_000;

    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;

    @Inject
    public CachedFiles(ClusterMembership membership, SharedWorkerAdmin workerAdmin)
    {
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
    }

    private record Slice(int bits, long prefix)
    {
        Slice half(int bit)
        {
            return new Slice(bits + 1, prefix | (long) bit << (63 - bits));
        }
    }

    /**
     * In no order. A worker that does not answer is left out from then on.
     */
    public Iterator<ListedFile> list()
    {
        List<WorkerAddress> addresses = membership.places().stream()
                // one that was late once may have most of it
                .filter(place -> place.state().isLive())
                .map(Place::address)
                .toList();
        return new Listing(workerAdmin.get(), addresses);
    }

    private static final class Listing
            implements Iterator<ListedFile>
    {
        private final WorkerAdmin workerAdmin;
        private final List<WorkerAddress> addresses;
        private final Set<WorkerAddress> silent = new HashSet<>();
        private final Deque<Slice> slices = new ArrayDeque<>(List.of(new Slice(0, 0)));
        private Iterator<ListedFile> files = List.<ListedFile>of().iterator();

        Listing(WorkerAdmin workerAdmin, List<WorkerAddress> addresses)
        {
            this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
            this.addresses = List.copyOf(addresses);
        }

        @Override
        public boolean hasNext()
        {
            while (!files.hasNext() && !slices.isEmpty()) {
                ask(slices.pop());
            }
            return files.hasNext();
        }

        @Override
        public ListedFile next()
        {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return files.next();
        }

        private void ask(Slice slice)
        {
            Map<WorkerAddress, CompletableFuture<ListingMessage.Files>> asked = new LinkedHashMap<>();
            for (WorkerAddress address : addresses) {
                if (!silent.contains(address)) {
                    asked.put(address, workerAdmin.files(address, slice.bits(), slice.prefix(), TIMEOUT_MILLIS));
                }
            }
            List<ListingMessage.Files> answers = new ArrayList<>();
            asked.forEach((address, answer) -> answer.handle((listed, failure) -> {
                if (failure == null) {
                    answers.add(listed);
                }
                else {
                    silent.add(address);
                    log.debug("Cache worker %s did not list its contents: %s", address, failure.getMessage());
                }
                return null;
            }).join());
            if (slice.bits() < ListingMessage.GetFiles.MAX_BITS && answers.stream().anyMatch(answer -> !answer.complete())) {
                slices.push(slice.half(1));
                slices.push(slice.half(0));
                return;
            }
            Map<FileVersion, ListedFile> merged = new LinkedHashMap<>();
            answers.forEach(answer -> answer.files().forEach(file -> merged.merge(file.file(), file, Listing::add)));
            files = merged.values().stream()
                    .sorted(Comparator.comparing(file -> file.file().location()))
                    .iterator();
        }

        private static ListedFile add(ListedFile one, ListedFile other)
        {
            return new ListedFile(
                    one.file(),
                    one.table(),
                    one.ramBytes() + other.ramBytes(),
                    one.ssdBytes() + other.ssdBytes(),
                    one.cachedBytes() + other.cachedBytes(),
                    Math.max(one.blockClass(), other.blockClass()),
                    Math.min(one.nextExpirySeconds(), other.nextExpirySeconds()));
        }
    }
}
