package io.cachedhive.chaos.fault;

import io.cachedhive.chaos.lake.Lake;
import io.cachedhive.chaos.lake.MovingTable;
import io.cachedhive.chaos.query.QueryClient;
import io.cachedhive.chaos.rows.ChaosRows;
import io.cachedhive.chaos.rows.FileHistory;
import io.cachedhive.chaos.schedule.PlannedFault;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import static io.cachedhive.testing.cluster.Cluster.BUCKET;
import static java.util.Objects.requireNonNull;

/**
 * Replaces, deletes and creates files of moving tables. One at a time.
 */
final class FileFaults
{
    private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration HEALTHY_TIMEOUT = Duration.ofSeconds(40);
    // what a stream requests first
    private static final long READ_BYTES = 1 << 20;
    private static final Duration DELIVERY = Duration.ofSeconds(1);
    private static final int LATEST_MILLIS_OF_SECOND = 150;
    // cache workers take a file for settled two seconds after its last-modified time
    private static final Duration UNSETTLED = Duration.ofSeconds(2);
    private static final Duration LATEST_REPLACEMENT = Duration.ofMillis(1600);

    private final FaultSetting setting;
    private final Lake lake;
    private final QueryClient client;

    FileFaults(FaultSetting setting)
    {
        this.setting = requireNonNull(setting, "setting is null");
        this.lake = setting.lake();
        this.client = setting.client();
    }

    Undo begin(PlannedFault fault, Random random)
            throws Exception
    {
        return switch (fault.kind()) {
            case FILE_REPLACED -> {
                MovingFile file = draw(random, _ -> true);
                List<Integer> states = lake.statesOfOtherLength(file.table(), file.key(), file.history().state());
                lake.put(file.table(), file.key(), states.get(random.nextInt(states.size())));
                yield () -> {};
            }
            case FILE_REPLACED_SAME_LENGTH -> {
                MovingFile file = draw(random, this::hasStatesOfSameLength);
                lake.put(file.table(), file.key(), stateOfSameLength(file, random));
                yield () -> {};
            }
            case FILE_REPLACED_SAME_SECOND -> replaceInSameSecond(draw(random, this::hasStatesOfSameLength), random);
            case FILE_DELETED -> {
                MovingFile file = draw(random, _ -> true);
                lake.delete(file.table(), file.key());
                yield () -> lake.put(file.table(), file.key(), anyState(random));
            }
            case FILE_RECREATED -> {
                MovingFile file = draw(random, _ -> true);
                int state = anyState(random);
                lake.delete(file.table(), file.key());
                lake.put(file.table(), file.key(), state);
                yield () -> {};
            }
            case FILE_REPLACED_AFTER_LISTING -> replaceWhileRead(draw(random, _ -> true), 0, random);
            case FILE_REPLACED_IN_MID_READ -> replaceWhileRead(draw(random, _ -> true), 64 << 10, random);
            case FILE_REPLACED_AND_CACHE_STOPPED -> replaceAndStopCache(draw(random, file -> file.key().equals(Lake.STREAMED_FILE)), random);
            case FILE_REWRITTEN_AND_FLUSHED -> rewriteAndFlush(draw(random, this::hasStatesOfSameLength), mortalWorker(fault), random);
            default -> throw new IllegalArgumentException("not a fault of files: " + fault.kind());
        };
    }

    private record MovingFile(MovingTable table, String key)
    {
        private FileHistory history()
        {
            return table.files().get(key);
        }
    }

    private MovingFile draw(Random random, Predicate<MovingFile> condition)
    {
        List<MovingFile> candidates = new ArrayList<>();
        for (MovingTable table : lake.movingTables()) {
            for (String key : table.keys()) {
                MovingFile file = new MovingFile(table, key);
                if (condition.test(file)) {
                    candidates.add(file);
                }
            }
        }
        return candidates.get(random.nextInt(candidates.size()));
    }

    private boolean hasStatesOfSameLength(MovingFile file)
    {
        return !lake.statesOfSameLength(file.table(), file.key(), file.history().state()).isEmpty();
    }

    private int stateOfSameLength(MovingFile file, Random random)
    {
        List<Integer> states = lake.statesOfSameLength(file.table(), file.key(), file.history().state());
        return states.get(random.nextInt(states.size()));
    }

    private static int anyState(Random random)
    {
        return random.nextInt(ChaosRows.STATES);
    }

    private static int otherState(MovingFile file, Random random)
    {
        return (file.history().state() + 1 + random.nextInt(ChaosRows.STATES - 1)) % ChaosRows.STATES;
    }

    private void check(MovingFile file)
    {
        client.checkMoving(file.table(), Integer.MAX_VALUE);
    }

    private Thread startQuery(MovingFile file)
    {
        return Thread.ofPlatform().name("query-of-fault").start(() -> check(file));
    }

    // small files are not held in the middle, and the cache may be off
    private static void awaitHeld(S3Hold hold, Thread query, BooleanSupplier timeLeft)
            throws InterruptedException
    {
        while (hold.heldCount() == 0 && query.isAlive() && timeLeft.getAsBoolean()) {
            Thread.sleep(20);
        }
    }

    private S3Hold hold(MovingFile file, UnaryOperator<S3Hold.Rule> rule)
    {
        return setting.cluster().s3().hold(rule.apply(S3Hold.Rule.gets(BUCKET, lake.key(file.table(), file.key()))));
    }

    private static BooleanSupplier during(Duration time)
    {
        long deadline = System.nanoTime() + time.toNanos();
        return () -> System.nanoTime() - deadline < 0;
    }

    /**
     * Lets a query fetch a file that was just written, and replaces it by one of the same length within the second of its last-modified time. What the query fetched
     * looks like the new file, but for its ETag.
     */
    private Undo replaceInSameSecond(MovingFile file, Random random)
            throws InterruptedException
    {
        long millis = System.currentTimeMillis() % 1000;
        Thread.sleep(millis < LATEST_MILLIS_OF_SECOND ? 0 : 1000 - millis);
        lake.put(file.table(), file.key(), stateOfSameLength(file, random));
        Instant time = lake.lastModified(file.table(), file.key());
        Thread query;
        try (S3Hold hold = hold(file, rule -> rule.afterBytes(1))) {
            query = startQuery(file);
            awaitHeld(hold, query, () -> Instant.now().isBefore(time.plus(LATEST_REPLACEMENT)));
            long begin = System.nanoTime();
            int state = stateOfSameLength(file, random);
            if (Instant.now().isBefore(time.plus(LATEST_REPLACEMENT))) {
                // as if that second had not ended
                lake.put(file.table(), file.key(), state, time);
                if (!Instant.now().isBefore(time.plus(UNSETTLED))) {
                    // too late: by then, cache workers may have taken the file for settled
                    lake.put(file.table(), file.key(), state);
                    file.history().addUnsettled(begin);
                }
            }
        }
        query.join();
        check(file);
        return () -> check(file);
    }

    /** Replaces the file with a state that no cache worker has, lets a query begin to read that, and replaces the file again. */
    private Undo replaceWhileRead(MovingFile file, long afterBytes, Random random)
            throws InterruptedException
    {
        lake.put(file.table(), file.key(), anyState(random));
        Thread query;
        try (S3Hold hold = hold(file, rule -> rule.afterBytes(afterBytes))) {
            query = startQuery(file);
            awaitHeld(hold, query, during(HOLD_TIMEOUT));
            lake.put(file.table(), file.key(), anyState(random));
        }
        query.join();
        return () -> check(file);
    }

    /** The reader has rows of the old state, and can get the others only from the origin, which has the new state. */
    private Undo replaceAndStopCache(MovingFile file, Random random)
            throws Exception
    {
        lake.put(file.table(), file.key(), otherState(file, random));
        List<ClusterNode> workers = setting.cluster().cacheWorkers();
        try {
            Thread query;
            try (S3Hold hold = hold(file, rule -> rule.fromPosition(READ_BYTES))) {
                query = startQuery(file);
                awaitHeld(hold, query, during(HOLD_TIMEOUT));
                // for what was fetched to reach the reader
                Thread.sleep(DELIVERY);
                lake.put(file.table(), file.key(), otherState(file, random));
                for (ClusterNode worker : workers) {
                    NodeFaults.signal("STOP", worker.pid());
                }
            }
            query.join();
        }
        finally {
            for (ClusterNode worker : workers) {
                NodeFaults.signal("CONT", worker.pid());
            }
        }
        return () -> check(file);
    }

    /** What only a flush makes readers notice. It has to survive the end of a cache worker, and to reach one that was down. */
    private Undo rewriteAndFlush(MovingFile file, ClusterNode worker, Random random)
            throws Exception
    {
        try (SqlConnection connection = connect()) {
            new CacheStatistics(connection, "cachedhive").awaitHealthy(setting.cluster().cacheWorkers().size(), HEALTHY_TIMEOUT);
        }
        catch (IllegalStateException e) {
            throw new SQLException("the flush would not reach all cache workers: " + e.getMessage(), e);
        }
        boolean killedBefore = random.nextInt(3) == 0;
        boolean killedAfterwards = !killedBefore && random.nextBoolean();
        // it is in the cache then
        check(file);
        Instant time = lake.lastModified(file.table(), file.key());
        if (killedBefore) {
            worker.kill();
        }
        long begin = System.nanoTime();
        lake.put(file.table(), file.key(), stateOfSameLength(file, random), time);
        try (SqlConnection connection = connect()) {
            connection.query("CALL cachedhive.system.flush_data_cache(schema_name => 'chaos', table_name => '%s')".formatted(file.table().name()));
        }
        catch (SQLException e) {
            // a later time is noticed without a flush
            lake.put(file.table(), file.key(), file.history().state());
            throw e;
        }
        finally {
            file.history().addUnsettled(begin);
            if (killedAfterwards) {
                worker.kill();
            }
            if (killedBefore || killedAfterwards) {
                NodeFaults.start(worker);
            }
        }
        check(file);
        return () -> check(file);
    }

    // not the last one, whose processes live as long as the run
    private ClusterNode mortalWorker(PlannedFault fault)
    {
        List<ClusterNode> workers = setting.cluster().cacheWorkers();
        return workers.get(fault.host() % (workers.size() - 1));
    }

    private SqlConnection connect()
            throws SQLException
    {
        return SqlConnection.open(setting.cluster().coordinator().httpUri(), "chaos", Optional.of("cachedhive"), Optional.of("chaos"));
    }
}
