package io.cachedhive.store;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A disk that hangs: calls of one kind on selected files wait until they are released.
 */
final class HeldDisk
{
    private final Disk disk;
    private final AtomicInteger held = new AtomicInteger();
    private volatile Optional<Hold> hold = Optional.empty();

    private record Hold(String method, Predicate<Path> files, CountDownLatch released) {}

    HeldDisk(Disk disk)
    {
        this.disk = (Disk) Proxy.newProxyInstance(Disk.class.getClassLoader(), new Class<?>[] {Disk.class}, (_, method, arguments) -> {
            Object result = invoke(disk, method, arguments);
            return method.getName().equals("open") ? holdable((Path) arguments[0], (DiskFile) result) : result;
        });
    }

    private DiskFile holdable(Path path, DiskFile file)
    {
        return (DiskFile) Proxy.newProxyInstance(DiskFile.class.getClassLoader(), new Class<?>[] {DiskFile.class}, (_, method, arguments) -> {
            Optional<Hold> matching = hold.filter(each -> each.method.equals(method.getName()) && each.files.test(path));
            if (matching.isPresent()) {
                held.incrementAndGet();
                matching.get().released.await();
                held.decrementAndGet();
            }
            return invoke(file, method, arguments);
        });
    }

    private static Object invoke(Object target, Method method, Object[] arguments)
            throws Throwable
    {
        try {
            return method.invoke(target, arguments);
        }
        catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    Disk disk()
    {
        return disk;
    }

    /**
     * Holds the following calls, for example {@code read} or {@code sync}.
     */
    void hold(String method, Predicate<Path> files)
    {
        hold = Optional.of(new Hold(method, files, new CountDownLatch(1)));
    }

    void release()
    {
        Optional<Hold> ended = hold;
        hold = Optional.empty();
        ended.ifPresent(each -> each.released.countDown());
    }

    /**
     * Returns the number of calls that wait.
     */
    int held()
    {
        return held.get();
    }
}
