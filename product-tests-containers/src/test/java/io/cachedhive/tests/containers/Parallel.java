package io.cachedhive.tests.containers;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;

import static com.google.common.base.Throwables.throwIfUnchecked;

/**
 * Runs an action on several hosts at the same time.
 */
final class Parallel
{
    private Parallel() {}

    static <T> void forEach(Collection<T> items, Consumer<T> action)
    {
        map(items, item -> {
            action.accept(item);
            return true;
        });
    }

    /**
     * Returns the results in the order of the items, after all actions have ended.
     *
     * @throws RuntimeException or an {@link Error}: the first failure, with the other failures as suppressed ones
     */
    static <T, R> Map<T, R> map(Collection<T> items, Function<T, R> action)
    {
        Map<T, Future<R>> futures = new LinkedHashMap<>();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().name("parallel-", 0).factory())) {
            items.forEach(item -> futures.put(item, executor.submit(() -> action.apply(item))));
        }
        Map<T, R> results = new LinkedHashMap<>();
        List<Throwable> failures = new ArrayList<>();
        futures.forEach((item, future) -> {
            try {
                results.put(item, future.get());
            }
            catch (ExecutionException e) {
                failures.add(e.getCause());
            }
            catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                failures.add(e);
            }
        });
        if (!failures.isEmpty()) {
            Throwable first = failures.removeFirst();
            failures.forEach(first::addSuppressed);
            throwIfUnchecked(first);
            throw new IllegalStateException(first);
        }
        return results;
    }
}
