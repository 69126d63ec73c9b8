package io.cachedhive.trino.pin;

import com.google.common.collect.Lists;
import com.google.inject.Inject;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.WorkerNotices;
import io.cachedhive.plugin.membership.WorkerNotices.Answer;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.pin.KnownPins;
import io.cachedhive.plugin.pin.PinnedPlace;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.PinMessage.PinState;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.partition.TableFiles.PartitionLocation;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

/**
 * Tells cache workers what is pinned by name, and asks them. They remember it; the coordinator does not.
 */
public final class Pins
{
    // blocks that are there change their class
    private static final long SET_MILLIS = 900_000;
    private static final long ASK_MILLIS = 10_000;
    private static final Digest128 ZERO = new Digest128(0, 0);

    private final String catalog;
    private final TableFiles files;
    private final FileOrigins origins;
    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;
    private final WorkerNotices notices;
    private final SecureRandom random = new SecureRandom();

    @Inject
    Pins(
            CatalogName catalog,
            TableFiles files,
            FileOrigins origins,
            ClusterMembership membership,
            SharedWorkerAdmin workerAdmin,
            WorkerNotices notices)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.files = requireNonNull(files, "files is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.notices = requireNonNull(notices, "notices is null");
    }

    /**
     * Returns when all cache workers that answer have pinned what they have of it.
     *
     * @param values by partition column, of some or all of them; empty for the whole table
     * @throws TrinoException if the request makes no sense or is not allowed, or a cache worker did not do it
     */
    public void pin(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        List<PartitionLocation> locations = files.locations(session, accessControl, table, values);
        checkAnswering(table);
        long created = ask(false).nextCreatedMillis();
        List<Pin> pins = new ArrayList<>();
        // a directory comes before those within it
        for (PartitionLocation location : locations.stream().sorted((one, other) -> one.location().compareTo(other.location())).toList()) {
            Optional<FileOrigin> origin = origins.find(location.location());
            if (origin.isPresent() && (pins.isEmpty() || !location.location().startsWith(pins.getLast().location()))) {
                pins.add(pin(origin.get().id(), location.location(), table.toString(), location.partition(), true, created));
            }
        }
        if (pins.isEmpty()) {
            throw new TrinoException(NOT_SUPPORTED, "files of table %s are not cached: they are in no object store of the catalog".formatted(table));
        }
        set(table, pins);
    }

    /**
     * Returns when all cache workers that answer have done it.
     *
     * @param values by partition column, of some or all of them; empty for all that is pinned of the table
     * @throws TrinoException if there is no such pin, it is not allowed, or a cache worker did not do it
     */
    public void unpin(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        files.checkReadable(session, accessControl, table);
        checkAnswering(table);
        KnownPins known = ask(false);
        long created = known.nextCreatedMillis();
        List<Pin> ofTable = known.places().values().stream()
                .map(PinnedPlace::pin)
                .filter(pin -> pin.pinned() && pin.table().equals(table.toString()))
                .toList();
        List<Pin> ended = ofTable.stream()
                .filter(pin -> values.isEmpty() || pin.partition().filter(partition -> files.partitionValues(partition).entrySet().containsAll(values.entrySet())).isPresent())
                .map(pin -> pin(pin.origin(), pin.location(), pin.table(), pin.partition(), false, created))
                .toList();
        if (ended.isEmpty() && ofTable.stream().anyMatch(pin -> pin.partition().isEmpty())) {
            throw new TrinoException(
                    INVALID_PROCEDURE_ARGUMENT,
                    "table %s is pinned as a whole: unpin it without partition_columns, and pin the partitions that are to stay".formatted(table));
        }
        if (ended.isEmpty()) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "%s%s is not pinned: the table cache.pins lists what is".formatted(
                    table,
                    values.isEmpty() ? "" : " with " + values));
        }
        set(table, ended);
    }

    private Pin pin(OriginId origin, String location, String table, Optional<String> partition, boolean pinned, long createdMillis)
    {
        return new Pin(new Digest128(random.nextLong(), random.nextLong()), origin, location, table, partition, pinned, createdMillis);
    }

    private void checkAnswering(SchemaTableName table)
    {
        if (!notices.isAnyAnswering()) {
            throw new TrinoException(
                    PROCEDURE_CALL_FAILED,
                    "no cache worker of catalog %s answers, so the pin of %s cannot be recorded: start one and call again".formatted(catalog, table));
        }
    }

    private void set(SchemaTableName table, List<Pin> pins)
    {
        List<Answer<Boolean>> answers;
        try {
            answers = notices.notifyWorkers("what is pinned of " + table, SET_MILLIS, (admin, address, timeoutMillis) -> {
                CompletableFuture<Boolean> set = CompletableFuture.completedFuture(true);
                for (List<Pin> some : Lists.partition(pins, PinMessage.SetPins.MAX_PINS)) {
                    set = set.thenCompose(_ -> admin.setPins(address, some, timeoutMillis)).thenApply(_ -> true);
                }
                return set;
            });
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; the cache workers continue with the request", e);
        }
        for (Answer<Boolean> answer : answers) {
            answer.failure().filter(_ -> answer.answers()).ifPresent(failure -> {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "what is pinned of %s is not on cache worker %s (%s): call it again".formatted(table, answer.address(), failure));
            });
        }
        if (answers.stream().allMatch(answer -> answer.failure().isPresent())) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker took what is pinned of %s (%s): call it again".formatted(
                    table,
                    answers.isEmpty() ? "there is none" : answers.getLast().failure().orElseThrow()));
        }
    }

    /**
     * What there is to be told of places in the catalog's stores that are pinned.
     */
    KnownPins list()
    {
        return ask(true);
    }

    private KnownPins ask(boolean usage)
    {
        Set<OriginId> own = origins.origins().stream().map(NamedOrigin::id).collect(toSet());
        WorkerAdmin admin = workerAdmin.get();
        Map<WorkerAddress, CompletableFuture<List<PinState>>> asked = new LinkedHashMap<>();
        membership.places().stream()
                // one that was late once may have most of it
                .filter(place -> place.state().isLive())
                .map(Place::address)
                .forEach(address -> asked.put(address, ask(admin, address, ZERO, usage)));
        return KnownPins.of(asked, own);
    }

    /**
     * Page by page.
     */
    private static CompletableFuture<List<PinState>> ask(WorkerAdmin admin, WorkerAddress address, Digest128 after, boolean usage)
    {
        return admin.pins(address, after, usage, ASK_MILLIS).thenCompose(page -> {
            if (page.pins().size() < PinMessage.SetPins.MAX_PINS) {
                return CompletableFuture.completedFuture(page.pins());
            }
            return ask(admin, address, page.pins().getLast().pin().id(), usage).thenApply(rest -> {
                List<PinState> all = new ArrayList<>(page.pins());
                all.addAll(rest);
                return all;
            });
        });
    }
}
