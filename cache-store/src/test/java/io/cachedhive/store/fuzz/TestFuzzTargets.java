package io.cachedhive.store.fuzz;

import io.cachedhive.store.ssd.DirectoryFuzzTarget;
import io.cachedhive.store.ssd.ExtentFuzzTarget;
import io.cachedhive.store.ssd.HeaderPageFuzzTarget;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code bin/fuzz} found worth keeping (a file for each way through the code), and so many random changes of it. The fuzzer itself, which looks
 * where inputs lead, takes longer and runs by hand.
 */
@Tag("slow")
class TestFuzzTargets
{
    private static final byte[] INTERESTING = {0, 1, -1, 127, -128, 2, 3, 4, 5, 7, 16, 64};
    private static final int MAX_LENGTH = 16 << 10;

    // kept here: the level of a logger that nobody holds is forgotten
    private final Logger log = Logger.getLogger("io.cachedhive.store");

    private interface Target
    {
        void run(byte[] input)
                throws Exception;
    }

    @Test
    void headerPage()
            throws Exception
    {
        fuzz("HeaderPageFuzzTarget", 200_000, HeaderPageFuzzTarget::fuzzerTestOneInput);
    }

    @Test
    void directory()
            throws Exception
    {
        // some inputs are worth a warning
        log.setLevel(Level.SEVERE);
        try {
            fuzz("DirectoryFuzzTarget", 5000, DirectoryFuzzTarget::fuzzerTestOneInput);
        }
        finally {
            log.setLevel(null);
        }
    }

    @Test
    void extent()
            throws Exception
    {
        fuzz("ExtentFuzzTarget", 400_000, ExtentFuzzTarget::fuzzerTestOneInput);
    }

    @Test
    void message()
            throws Exception
    {
        fuzz("MessageFuzzTarget", 200_000, MessageFuzzTarget::fuzzerTestOneInput);
    }

    /**
     * @param runs a second or two of a target, on any machine the same ones for the same seed
     */
    private static void fuzz(String name, int runs, Target target)
            throws Exception
    {
        List<byte[]> corpus = corpus(name);
        assertThat(corpus).describedAs("saved inputs").hasSizeGreaterThan(10);
        for (byte[] input : corpus) {
            run(target, input);
        }
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.printf("%s: %s saved inputs, seed: %s%n", name, corpus.size(), seed);
        Random random = new Random(seed);
        long all = (long) runs * Integer.getInteger("cachedhive.test.fuzz-multiple", 1);
        for (long i = 0; i < all; i++) {
            run(target, mutate(corpus, random));
        }
    }

    private static void run(Target target, byte[] input)
    {
        try {
            target.run(input);
        }
        catch (Throwable e) {
            throw new AssertionError("input %s: %s".formatted(HexFormat.of().formatHex(input), e), e);
        }
    }

    private static List<byte[]> corpus(String name)
            throws IOException, URISyntaxException
    {
        Path directory = Path.of(requireNonNull(TestFuzzTargets.class.getResource("/fuzz/" + name), "no saved inputs").toURI());
        List<byte[]> inputs = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            // in the same order everywhere, as the seed wants it
            for (Path file : files.sorted().toList()) {
                inputs.add(Files.readAllBytes(file));
            }
        }
        return inputs;
    }

    private static byte[] mutate(List<byte[]> corpus, Random random)
    {
        byte[] input = corpus.get(random.nextInt(corpus.size())).clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            int place = random.nextInt(input.length + 1);
            input = switch (random.nextInt(6)) {
                case 0 -> replace(input, place, place + 1, new byte[] {(byte) random.nextInt()});
                case 1 -> replace(input, place, place + 1, new byte[] {INTERESTING[random.nextInt(INTERESTING.length)]});
                case 2 -> replace(input, place, place + random.nextInt(16), new byte[0]);
                case 3 -> {
                    byte[] inserted = new byte[random.nextInt(16)];
                    random.nextBytes(inserted);
                    yield replace(input, place, place, inserted);
                }
                case 4 -> {
                    byte[] other = corpus.get(random.nextInt(corpus.size()));
                    int from = random.nextInt(other.length + 1);
                    yield replace(input, place, input.length, Arrays.copyOfRange(other, from, other.length));
                }
                default -> {
                    byte[] flipped = input.clone();
                    if (place < flipped.length) {
                        flipped[place] ^= (byte) (1 << random.nextInt(8));
                    }
                    yield flipped;
                }
            };
        }
        return input.length > MAX_LENGTH ? Arrays.copyOf(input, MAX_LENGTH) : input;
    }

    private static byte[] replace(byte[] input, int from, int to, byte[] replacement)
    {
        int end = Math.min(Math.max(from, to), input.length);
        int start = Math.min(from, end);
        byte[] result = new byte[start + replacement.length + input.length - end];
        System.arraycopy(input, 0, result, 0, start);
        System.arraycopy(replacement, 0, result, start, replacement.length);
        System.arraycopy(input, end, result, start + replacement.length, input.length - end);
        return result;
    }
}
