package io.cachedhive.chaos.schedule;

import java.util.Arrays;
import java.util.Locale;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The kinds of faults, what each concerns, and how long it lasts.
 */
public enum FaultKind
{
    CACHE_WORKER_KILLED(Target.HOST, 2, 12, "SIGKILL; started again afterwards"),
    CACHE_WORKER_STOPPED(Target.HOST, 2, 14, "SIGSTOP, then SIGCONT"),
    CACHE_WORKER_RESTARTED(Target.HOST, 0, 5, "SIGTERM; started again afterwards"),
    CACHE_WORKER_DRAINED(Target.HOST, 2, 8, "drained, which changes the ring; returns afterwards"),
    CACHE_WORKER_RESIZED(Target.HOST, 10, 25, "restarted with twice the SSD capacity, which changes its weight on the ring"),
    CLOCK_MOVED(Target.HOST, 8, 20, "the clock of a running cache worker moves by an hour, forward or back (needs libfaketime)"),
    STATE_WIPED(Target.HOST, 0, 3, "killed, and restarted without its state directory"),
    SSD_WIPED(Target.HOST, 0, 3, "killed, and restarted with an empty SSD directory"),
    SSD_DAMAGED(Target.HOST, 0, 3, "killed, and restarted with flipped bytes in all files of the SSD directory"),
    SSD_ROTTING(Target.HOST, 0, 3, "flipped bytes in the slabs of a running cache worker"),
    SSD_SWAPPED(Target.TWO_HOSTS, 0, 3, "two cache workers killed, and restarted with exchanged SSD directories"),
    SSD_FULL(Target.HOST, 4, 12, "writes to the SSD directory fail with ENOSPC (needs strace)"),
    SSD_FAILING(Target.HOST, 4, 12, "reads and writes of the SSD directory fail with EIO (needs strace)"),
    SSD_SLOW(Target.HOST, 4, 12, "each read and write of the SSD directory takes 60 ms longer (needs strace)"),
    SSD_HUNG(Target.HOST, 6, 14, "each read and write of the SSD directory takes 5 s longer (needs strace)"),
    ATTACKED_BY_STRANGER(Target.HOST, 0, 3, "a process without the secret attacks a cache worker: bin/attack local-poison, downgrade or token-replay"),
    ATTACKED_ON_PATH(Target.HOST, 0, 3, "an attacker between a client and a cache worker: bin/attack relay, flip or address-reuse"),
    ATTACKED_BY_PEER(Target.HOST, 0, 3, "a peer goes beyond its role: bin/attack ring-from-future, tombstone-from-future, quota-zero or reader-flush"),
    ATTACKED_WITH_LOAD(Target.HOST, 3, 12, "an attacker overloads a cache worker: bin/attack stall, slowloris, flood or heap"),
    SECRET_ROTATED(Target.SECRET, 6, 15, "half of the processes prefer a new shared secret, half know the former one; all get the new one, and the former one is removed"),
    CERTIFICATES_RENEWED(Target.CERTIFICATES, 6, 15, "all processes have certificates that expire within two minutes, and get new ones before that"),
    CERTIFICATE_EXPIRED(Target.HOST, 4, 12, "the certificate of a cache worker has expired, so that Trino servers refuse it; it gets a new one afterwards"),
    TRINO_WORKER_KILLED(Target.TRINO, 1, 6, "SIGKILL; started again afterwards"),
    SOCKETS_CUT(Target.SOCKETS, 3, 10, "connections to a cache worker end after a random number of bytes"),
    SOCKETS_REFUSED(Target.SOCKETS, 3, 12, "connections to a cache worker end at once, and no new ones are accepted"),
    SOCKETS_DELAYED(Target.SOCKETS, 4, 15, "each piece that a cache worker sends or receives is 5 to 150 ms late"),
    SOCKETS_STALLED(Target.SOCKETS, 3, 10, "connections to a cache worker stay open and transport nothing"),
    SOCKETS_FLIPPED(Target.SOCKETS, 4, 12, "one bit in about 64 KiB to or from a cache worker is flipped"),
    S3_SLOW(Target.S3, 4, 15, "the S3 server answers 0.1 to 0.6 s late"),
    S3_NARROW(Target.S3, 4, 15, "the S3 server sends 1 MB/s in each response"),
    S3_REFUSING(Target.S3, 4, 12, "the S3 server answers 30 to 80 % of the requests with 503"),
    S3_CUT(Target.S3, 3, 10, "connections to the S3 server end after a random number of bytes"),
    S3_REFUSED(Target.S3, 2, 8, "the S3 server accepts no connections"),
    S3_STOPPED(Target.S3, 2, 8, "SIGSTOP, then SIGCONT"),
    FILE_REPLACED(Target.FILE, 0, 2, "a file is replaced by one of another length"),
    FILE_REPLACED_SAME_LENGTH(Target.FILE, 0, 2, "a file is replaced by one of the same length, where the format permits"),
    FILE_REPLACED_SAME_SECOND(Target.FILE, 0, 2, "a file is replaced twice in a second, the second time by one of the same length, and is read in between"),
    FILE_DELETED(Target.FILE, 1, 6, "a file is deleted, and created afterwards with another state"),
    FILE_RECREATED(Target.FILE, 0, 2, "a file is deleted and at once created with another state"),
    FILE_REPLACED_AFTER_LISTING(Target.FILE, 0, 1, "a file is replaced after a query has listed it and before it is read"),
    FILE_REPLACED_IN_MID_READ(Target.FILE, 0, 1, "a file is replaced while a query has read a part of it"),
    FILE_REPLACED_AND_CACHE_STOPPED(
            Target.FILE_AND_ALL_HOSTS,
            0,
            1,
            "a file is replaced while a query has read a part of it through the cache workers, which are all stopped then"),
    FILE_REWRITTEN_AND_FLUSHED(
            Target.FILE_AND_ALL_HOSTS,
            0,
            1,
            "a file gets other bytes, with the same length and time, and its table is flushed; a cache worker is killed before or afterwards"),
    FLUSHED(Target.NOTHING, 0, 1, "a table is flushed"),
    PRELOADED(Target.PRELOAD, 2, 8, "a table is preloaded, and the preload is cancelled afterwards"),
    PINNED(Target.PIN, 3, 15, "a table is pinned, and unpinned afterwards"),
    MODE_CHANGED(Target.MODE, 2, 8, "the mode is OFF, READ_ONLY or SHADOW"),
    RULES_CHANGED(Target.RULES, 3, 12, "other rules are in force: bypass, short time to live, quota, class");

    /** What a fault takes for itself: two faults of one target never overlap. */
    public enum Target
    {
        HOST,
        TWO_HOSTS,
        SECRET,
        CERTIFICATES,
        SOCKETS,
        TRINO,
        S3,
        FILE,
        FILE_AND_ALL_HOSTS,
        PRELOAD,
        PIN,
        MODE,
        RULES,
        NOTHING
    }

    private final Target target;
    private final int leastSeconds;
    private final int mostSeconds;
    private final String description;

    FaultKind(Target target, int leastSeconds, int mostSeconds, String description)
    {
        this.target = requireNonNull(target, "target is null");
        this.leastSeconds = leastSeconds;
        this.mostSeconds = mostSeconds;
        this.description = requireNonNull(description, "description is null");
    }

    /** The name on the command line and in reports: {@code cache-worker-killed}. */
    public String text()
    {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @throws IllegalArgumentException if there is no such kind
     */
    public static FaultKind of(String text)
    {
        return Arrays.stream(values())
                .filter(kind -> kind.text().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown kind of fault %s: use one of %s".formatted(
                        text,
                        Arrays.stream(values()).map(FaultKind::text).collect(joining(", ")))));
    }

    public Target target()
    {
        return target;
    }

    public int leastSeconds()
    {
        return leastSeconds;
    }

    public int mostSeconds()
    {
        return mostSeconds;
    }

    public String description()
    {
        return description;
    }

    /** Whether strace(1) injects it. */
    public boolean needsStrace()
    {
        return this == SSD_FULL || this == SSD_FAILING || this == SSD_SLOW || this == SSD_HUNG;
    }

    /** Whether it ends a process, which starts again. */
    public boolean endsProcess()
    {
        return switch (this) {
            case CACHE_WORKER_KILLED, CACHE_WORKER_RESTARTED, CACHE_WORKER_DRAINED, CACHE_WORKER_RESIZED, CLOCK_MOVED, STATE_WIPED, SSD_WIPED, SSD_DAMAGED, SSD_SWAPPED,
                    TRINO_WORKER_KILLED -> true;
            default -> false;
        };
    }

    /** Whether it is an attack, whose legitimate client has the secret that was valid at its begin. */
    public boolean isAttack()
    {
        return this == ATTACKED_BY_STRANGER || this == ATTACKED_ON_PATH || this == ATTACKED_BY_PEER || this == ATTACKED_WITH_LOAD;
    }

    /** Whether it makes requests to the S3 server fail, so that plain Hive may fail too. */
    public boolean failsS3Requests()
    {
        return this == S3_REFUSING || this == S3_CUT || this == S3_REFUSED || this == S3_STOPPED;
    }
}
