package io.cachedhive.store;

import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.DiskFile;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Does something before a slab is read or written, once, in the thread that does that.
 */
final class HookedDisk
{
    private final Disk disk;
    private final AtomicReference<Optional<Hook>> onRead = new AtomicReference<>(Optional.empty());
    private final AtomicReference<Optional<Hook>> onWrite = new AtomicReference<>(Optional.empty());

    interface Hook
    {
        /**
         * @throws IOException then that is what the disk says
         */
        void run()
                throws Exception;
    }

    HookedDisk(Disk disk)
    {
        this.disk = (Disk) Proxy.newProxyInstance(Disk.class.getClassLoader(), new Class<?>[] {Disk.class}, (_, method, arguments) -> {
            Object result = invoke(disk, method, arguments);
            return method.getName().equals("open") && ((Path) arguments[0]).getFileName().toString().startsWith("slab-") ? hooked((DiskFile) result) : result;
        });
    }

    private DiskFile hooked(DiskFile file)
    {
        return (DiskFile) Proxy.newProxyInstance(DiskFile.class.getClassLoader(), new Class<?>[] {DiskFile.class}, (_, method, arguments) -> {
            Optional<Hook> hook = switch (method.getName()) {
                case "read" -> onRead.getAndSet(Optional.empty());
                case "write" -> onWrite.getAndSet(Optional.empty());
                default -> Optional.empty();
            };
            if (hook.isPresent()) {
                hook.get().run();
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

    void onNextRead(Hook hook)
    {
        onRead.set(Optional.of(hook));
    }

    void onNextWrite(Hook hook)
    {
        onWrite.set(Optional.of(hook));
    }
}
