package io.cachedhive.benchmark.queries;

import com.google.common.collect.ImmutableList;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * How much is measured.
 */
public enum Scale
{
    /**
     * Shows that the benchmark works, in minutes. Its figures are of no use.
     */
    CI("ci", 0.01, 100, 11, 2, true, Duration.ZERO, List.of(StoreProfile.FAST)),
    /**
     * For each change of what it measures, in about an hour on two processors.
     */
    HOUR("hour", 0.3, 2_000, 7, 7, false, Duration.ofMinutes(4), List.of(StoreProfile.NEAR)),
    /**
     * For a release.
     */
    FULL("full", 1, 10_000, 1, 7, true, Duration.ofMinutes(15), List.of(StoreProfile.FAST, StoreProfile.NEAR, StoreProfile.FAR));

    private final String text;
    private final double tpch;
    private final int smallFiles;
    private final int everyTpchQuery;
    private final int runs;
    private final boolean listsInEachRun;
    private final Duration warmUp;
    private final ImmutableList<StoreProfile> profiles;

    Scale(String text, double tpch, int smallFiles, int everyTpchQuery, int runs, boolean listsInEachRun, Duration warmUp, List<StoreProfile> profiles)
    {
        this.text = requireNonNull(text, "text is null");
        this.tpch = tpch;
        this.smallFiles = smallFiles;
        this.everyTpchQuery = everyTpchQuery;
        this.runs = runs;
        this.listsInEachRun = listsInEachRun;
        this.warmUp = requireNonNull(warmUp, "warmUp is null");
        this.profiles = ImmutableList.copyOf(profiles);
    }

    /**
     * @throws IllegalArgumentException if there is no such scale
     */
    public static Scale of(String text)
    {
        return Arrays.stream(values())
                .filter(scale -> scale.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such profile: %s, use one of %s".formatted(text, Arrays.toString(values()))));
    }

    /**
     * The scale factor of TPC-H.
     */
    double tpch()
    {
        return tpch;
    }

    int smallFiles()
    {
        return smallFiles;
    }

    /**
     * Of how many TPC-H queries one is run.
     */
    int everyTpchQuery()
    {
        return everyTpchQuery;
    }

    public int runs()
    {
        return runs;
    }

    /**
     * Whether each run is also made with Hive's cache of listings, and not only the last one.
     */
    boolean listsInEachRun()
    {
        return listsInEachRun;
    }

    /**
     * For how long a workload is at most repeated before it is measured, until JVMs have compiled its code. The last round is completed.
     */
    Duration warmUp()
    {
        return warmUp;
    }

    public List<StoreProfile> profiles()
    {
        return profiles;
    }

    @Override
    public String toString()
    {
        return text;
    }
}
