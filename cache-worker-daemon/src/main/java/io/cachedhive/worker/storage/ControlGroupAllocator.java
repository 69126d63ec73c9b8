package io.cachedhive.worker.storage;

import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.store.disk.MemoryAllocator;

import java.nio.file.Path;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * Allocates memory only if it fits into the control group of the process. Beyond the limit, the kernel does not refuse an allocation of tmpfs. It kills a process of
 * the group instead.
 */
public final class ControlGroupAllocator
        implements MemoryAllocator
{
    // for the heap and the threads, which grow at the same time
    static final long RESERVE_BYTES = 64 << 20;

    private final ControlGroupMemory group;
    private final MemoryAllocator allocator;

    public ControlGroupAllocator(ControlGroupMemory group, MemoryAllocator allocator)
    {
        this.group = requireNonNull(group, "group is null");
        this.allocator = requireNonNull(allocator, "allocator is null");
    }

    @Override
    public void allocate(Path path, int descriptor, long offset, long length)
            throws DiskException
    {
        OptionalLong free = group.freeBytes();
        if (free.isPresent() && length + RESERVE_BYTES > free.getAsLong()) {
            throw new DiskException(DiskException.Cause.NO_SPACE, "the memory limit of %s in %s leaves %s".formatted(
                    ByteSize.format(group.limitBytes()),
                    group.file(),
                    ByteSize.format(Math.max(0, free.getAsLong()))));
        }
        allocator.allocate(path, descriptor, offset, length);
    }

    @Override
    public long firstBytes()
    {
        return allocator.firstBytes();
    }

    @Override
    public long stepBytes()
    {
        return allocator.stepBytes();
    }
}
