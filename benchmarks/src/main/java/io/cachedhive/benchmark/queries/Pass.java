package io.cachedhive.benchmark.queries;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import static java.util.Objects.requireNonNull;

/**
 * One pass over the queries of a workload by one contender.
 *
 * @param run the number of the run, from 1; the passes of a run follow one another
 * @param listed whether Hive's cache of listings was on
 * @param wallMillis from the start of the first query to the end of the last one
 * @param trinoCpuMillis of all Trino servers, until they were at rest
 * @param workerCpuMillis of all cache workers, until they were at rest
 * @param gets requests for bytes of data files
 * @param heads HEAD requests for data files
 * @param lists listings
 * @param bytes that the object store sent as data files
 * @param readMillis for which Trino's threads read or waited for data files, of all splits together
 */
@JsonPropertyOrder({
        "workload",
        "profile",
        "run",
        "contender",
        "listed",
        "phase",
        "wallMillis",
        "trinoCpuMillis",
        "workerCpuMillis",
        "gets",
        "heads",
        "lists",
        "bytes",
        "readMillis"})
public record Pass(
        String workload,
        StoreProfile profile,
        int run,
        Contender contender,
        boolean listed,
        Phase phase,
        double wallMillis,
        double trinoCpuMillis,
        double workerCpuMillis,
        long gets,
        long heads,
        long lists,
        long bytes,
        double readMillis)
{
    public Pass
    {
        requireNonNull(workload, "workload is null");
        requireNonNull(profile, "profile is null");
        requireNonNull(contender, "contender is null");
        requireNonNull(phase, "phase is null");
    }

    /**
     * CPU time of Trino servers and cache workers.
     */
    double cpuMillis()
    {
        return trinoCpuMillis + workerCpuMillis;
    }
}
