package io.cachedhive.worker.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.inject.Inject;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.status.WorkerStatus;
import io.cachedhive.worker.usage.UsageCounters;
import io.cachedhive.worker.usage.UsageCounters.Account;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static jakarta.ws.rs.core.MediaType.APPLICATION_JSON;
import static java.util.Objects.requireNonNull;

/**
 * Reports the status and the statistics of the worker. Counters and gauges have the names of {@link CounterNames}.
 * Other field names include their unit, bytes or milliseconds.
 */
@Path("/v1")
@Produces(APPLICATION_JSON)
public final class StatusResource
{
    private final CacheWorkerService worker;

    @Inject
    public StatusResource(CacheWorkerService worker)
    {
        this.worker = requireNonNull(worker, "worker is null");
    }

    /**
     * The status of the worker.
     *
     * @param worker the worker id
     * @param instance identifies this run of the worker process
     * @param state RUNNING, DRAINING or STOPPING
     * @param problem the current problem and its fix; absent if the worker is healthy
     * @param weight bytes that determine the worker's share of the chunks
     * @param newestRing epoch of the newest ring; absent without one
     * @param socketPath the Unix socket for Trino workers of this host
     * @param address the TCP address for other hosts; empty without a shared secret
     * @param memoryFile the shared-memory file
     * @param sharedSecrets fingerprints of the valid shared secrets, the preferred one first
     * @param buckets buckets from which blocks were fetched since the start
     * @param recovery the result of opening the store
     * @param quotas tables with a quota
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Status(
            @JsonProperty("worker") String worker,
            @JsonProperty("instance") String instance,
            @JsonProperty("version") String version,
            @JsonProperty("state") String state,
            @JsonProperty("problem") Optional<String> problem,
            @JsonProperty("uptime_millis") long uptimeMillis,
            @JsonProperty("weight") long weight,
            @JsonProperty("zone") Optional<String> zone,
            @JsonProperty("block_size_bytes") int blockSizeBytes,
            @JsonProperty("newest_ring") Optional<String> newestRing,
            @JsonProperty("newest_ring_published_millis") Optional<Long> newestRingPublishedMillis,
            @JsonProperty("socket_path") String socketPath,
            @JsonProperty("address") Optional<String> address,
            @JsonProperty("memory_file") String memoryFile,
            @JsonProperty("shared_secrets") List<String> sharedSecrets,
            @JsonProperty("origins") List<OriginState> origins,
            @JsonProperty("buckets") List<BucketFetches> buckets,
            @JsonProperty("recovery") List<String> recovery,
            @JsonProperty("quotas") List<TableQuota> quotas,
            @JsonProperty("gauges") Map<String, Long> gauges) {}

    /**
     * An origin.
     *
     * @param id the digest that is compared with the digest of a catalog's origin
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record OriginState(@JsonProperty("name") String name, @JsonProperty("id") String id, @JsonProperty("problem") Optional<String> problem) {}

    /**
     * The quota of a table.
     *
     * @param quotaBytes the quota over all cache workers of the ring
     * @param shareBytes this worker's share of the quota, for each of its tiers
     * @param ramBytes bytes of the table's blocks in RAM
     * @param ssdBytes bytes of the table's blocks on SSD
     */
    public record TableQuota(
            @JsonProperty("table") String table,
            @JsonProperty("quota_bytes") long quotaBytes,
            @JsonProperty("share_bytes") long shareBytes,
            @JsonProperty("ram_bytes") long ramBytes,
            @JsonProperty("ssd_bytes") long ssdBytes) {}

    /**
     * The current fetches of a bucket.
     *
     * @param limit the current limit on concurrent requests
     * @param requests requests in progress
     * @param queuedReads blocks that reads wait for, without a request yet
     * @param queuedPreloads blocks of preloads without a request yet
     */
    public record BucketFetches(
            @JsonProperty("origin") String origin,
            @JsonProperty("bucket") String bucket,
            @JsonProperty("limit") int limit,
            @JsonProperty("requests") int requests,
            @JsonProperty("queued_reads") int queuedReads,
            @JsonProperty("queued_preloads") int queuedPreloads) {}

    /**
     * The statistics of the worker.
     *
     * @param sinceMillis when the counters of {@code total} and {@code catalogs} started, in milliseconds since the
     * Unix epoch; gauges that count events start with the process
     * @param total counters over all catalogs
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record Statistics(
            @JsonProperty("worker") String worker,
            @JsonProperty("state") String state,
            @JsonProperty("problem") Optional<String> problem,
            @JsonProperty("since_millis") long sinceMillis,
            @JsonProperty("total") Map<String, Long> total,
            @JsonProperty("gauges") Map<String, Long> gauges,
            @JsonProperty("catalogs") List<CatalogStatistics> catalogs) {}

    public record CatalogStatistics(
            @JsonProperty("cluster") String cluster,
            @JsonProperty("catalog") String catalog,
            @JsonProperty("total") Map<String, Long> total) {}

    /**
     * A page of the counters of a catalog by table.
     *
     * @param next the value of {@code after} for the next page; absent on the last one
     */
    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    public record TablesPage(
            @JsonProperty("tables") Map<String, Map<String, Long>> tables,
            @JsonProperty("next") Optional<String> next) {}

    @GET
    @Path("status")
    public Status status()
    {
        WorkerStatus status = worker.status();
        Pong pong = status.pong();
        boolean hasRing = worker.rings().newest().isPresent();
        return new Status(
                pong.worker().value(),
                pong.instance().toHex(),
                pong.version(),
                pong.state(),
                status.problem(),
                pong.uptimeMillis(),
                pong.weight(),
                pong.zone(),
                worker.store().blockSizeBytes(),
                hasRing ? Optional.of(pong.newestRing().toString()) : Optional.empty(),
                hasRing ? Optional.of(pong.newestRingPublishedMillis()) : Optional.empty(),
                worker.socketPath().toString(),
                worker.tcpAddress().map(address -> "%s:%s".formatted(address.getAddress().getHostAddress(), address.getPort())),
                worker.store().memoryFile().toString(),
                status.secretFingerprints(),
                worker.origins().all().stream()
                        .map(origin -> new OriginState(origin.name(), origin.id().toString(), origin.health().problem()))
                        .collect(toImmutableList()),
                status.buckets().stream()
                        .map(bucket -> new BucketFetches(bucket.origin(), bucket.bucket(), bucket.limit(), bucket.requests(), bucket.queuedReads(), bucket.queuedPreloads()))
                        .collect(toImmutableList()),
                worker.store().recovery().stream().map(RecoveryOutcome::toString).collect(toImmutableList()),
                worker.store().quotas().usage().stream()
                        .map(usage -> new TableQuota(usage.table(), usage.quotaBytes(), usage.shareBytes(), usage.ramBytes(), usage.ssdBytes()))
                        .collect(toImmutableList()),
                status.gauges());
    }

    @GET
    @Path("stats")
    public Statistics stats()
    {
        UsageCounters usage = worker.usage();
        WorkerStatus status = worker.status();
        List<CatalogStatistics> catalogs = usage.accounts().stream()
                .map(account -> new CatalogStatistics(account.cluster(), account.catalog(), usage.totals(account)))
                .collect(toImmutableList());
        Pong pong = status.pong();
        return new Statistics(
                pong.worker().value(),
                pong.state(),
                status.problem(),
                usage.sinceMillis(),
                usage.totals(),
                status.gauges(),
                catalogs);
    }

    /**
     * Returns a page of the counters by table.
     *
     * @param after only tables whose names sort after this one
     */
    @GET
    @Path("tables")
    public TablesPage tables(
            @QueryParam("cluster") @DefaultValue("") String cluster,
            @QueryParam("catalog") @DefaultValue("") String catalog,
            @QueryParam("after") @DefaultValue("") String after)
    {
        Tables page = worker.usage().page(new Account(cluster, catalog), after);
        Map<String, Map<String, Long>> tables = new LinkedHashMap<>();
        page.tables().forEach(table -> tables.put(table.table(), table.counters()));
        return new TablesPage(tables, page.more() ? Optional.of(page.tables().getLast().table()) : Optional.empty());
    }
}
