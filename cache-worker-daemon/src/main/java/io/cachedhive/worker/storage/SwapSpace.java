package io.cachedhive.worker.storage;

import io.airlift.log.Logger;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The swap space of this host. The kernel may write the RAM tier and the heap there: cached bytes and secrets then rest
 * on a disk, and hits wait for it.
 */
public final class SwapSpace
{
    private static final Logger log = Logger.get(SwapSpace.class);

    private static final Path SWAPS = Path.of("/proc/swaps");

    private SwapSpace() {}

    /**
     * Returns why memory of this process may be swapped out, and the fix; empty if it cannot be.
     */
    public static Optional<String> problem()
    {
        if (ControlGroupMemory.forbidsSwap()) {
            return Optional.empty();
        }
        return problem(SWAPS);
    }

    /**
     * @param swaps a file in the format of /proc/swaps
     */
    static Optional<String> problem(Path swaps)
    {
        List<String> areas;
        try (Stream<String> lines = Files.lines(swaps)) {
            areas = lines.skip(1)
                    .map(line -> line.split("\\s", 2)[0])
                    // compressed memory, not a disk
                    .filter(area -> !area.isEmpty() && !area.startsWith("/dev/zram"))
                    .toList();
        }
        catch (IOException e) {
            // a kernel without swap
            log.debug(e, "%s cannot be read", swaps);
            return Optional.empty();
        }
        if (areas.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(("This host swaps to %s, so that cached bytes and secrets may be written there: "
                + "run swapoff, or run the cache worker under its systemd unit, which sets MemorySwapMax=0").formatted(String.join(", ", areas)));
    }
}
