package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.home.SharedSecretFile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Rotates the shared secret while queries run, in the order of {@code cache-admin secret rotate}, and stops in the middle: a part of the cache workers and of the Trino
 * servers prefers the new secret, and the others know the former one only.
 */
final class SecretFault
{
    /** Twice the time after which every process has read its file again. */
    static final Duration RELOAD = Duration.ofSeconds(10);

    private static final int SECRET_BYTES = 36;

    private final List<SharedSecretFile> cacheWorkers;
    private final List<SharedSecretFile> trino;
    private final Pause pause;
    private final Check check;

    @FunctionalInterface
    interface Pause
    {
        void sleep(Duration duration)
                throws InterruptedException;
    }

    @FunctionalInterface
    interface Check
    {
        /** Checks that all cache workers accept one secret and refuse another one. */
        void check(String accepted, String refused)
                throws Exception;
    }

    /**
     * @param cacheWorkers at least two files, one for each cache worker
     * @param trino at least two files, one for each Trino server
     */
    SecretFault(List<SharedSecretFile> cacheWorkers, List<SharedSecretFile> trino, Pause pause, Check check)
    {
        this.cacheWorkers = List.copyOf(cacheWorkers);
        this.trino = List.copyOf(trino);
        this.pause = requireNonNull(pause, "pause is null");
        this.check = requireNonNull(check, "check is null");
    }

    /**
     * Gives the new secret to a part of the processes.
     *
     * @return completes the rotation
     */
    Undo begin(Random random)
    {
        List<SharedSecretFile> all = Stream.of(cacheWorkers, trino).flatMap(List::stream).toList();
        String former = all.getFirst().accepted();
        byte[] bytes = new byte[SECRET_BYTES];
        random.nextBytes(bytes);
        String next = Base64.getEncoder().encodeToString(bytes);
        for (SharedSecretFile file : Stream.of(half(cacheWorkers, random), half(trino, random)).flatMap(List::stream).toList()) {
            file.write(List.of(next, former));
        }
        return () -> {
            all.forEach(file -> file.write(List.of(next, former)));
            pause.sleep(RELOAD);
            all.forEach(file -> file.write(List.of(next)));
            pause.sleep(RELOAD);
            check.check(next, former);
        };
    }

    private static List<SharedSecretFile> half(List<SharedSecretFile> files, Random random)
    {
        List<SharedSecretFile> shuffled = new ArrayList<>(files);
        Collections.shuffle(shuffled, random);
        return shuffled.subList(0, files.size() / 2);
    }
}
