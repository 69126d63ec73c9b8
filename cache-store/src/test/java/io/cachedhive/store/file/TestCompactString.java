package io.cachedhive.store.file;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TestCompactString
{
    @Test
    void packsWhatNamesAreMadeOf()
    {
        assertPacked("20260101_120000_00012_abcde_%s".formatted(new UUID(1, -1)), 28 + 17);
        assertPacked("part-00000-%s-c000.snappy.parquet".formatted(new UUID(-1, 5)), 11 + 17 + 20);
        assertPacked("\"0123456789abcdef0123456789abcdef\"", 19);
        assertPacked("\"0123456789abcdef0123456789abcdef-17\"", 22);
        assertPacked("0".repeat(64), 34);
        assertPacked("%s%s".formatted(new UUID(3, 4), new UUID(5, 6)), 34);
    }

    @Test
    void leavesTheRestAsItIs()
    {
        assertPacked("", 0);
        assertPacked("a", 1);
        assertPacked("0123456789abcdef0123456789abcde", 31);
        assertPacked("0123456789ABCDEF0123456789ABCDEF", 32);
        assertPacked("01234567_89ab_cdef_0123_456789abcdef", 36);
        assertPacked("größe/ÿþ/日本/😀", "größe/ÿþ/日本/😀".getBytes(UTF_8).length);
    }

    @Test
    void packsAnything()
    {
        long seed = Long.getLong("test.seed", System.nanoTime());
        System.out.println("test.seed=" + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int parts = random.nextInt(6); parts > 0; parts--) {
                switch (random.nextInt(5)) {
                    case 0 -> text.append(new UUID(random.nextLong(), random.nextLong()));
                    case 1 -> text.append(hex(random, 12 + random.nextInt(10)));
                    case 2 -> text.append(hex(random, 16).toUpperCase(Locale.ROOT));
                    case 3 -> text.append("-a0f-".substring(random.nextInt(5)));
                    default -> text.appendCodePoint(random.nextBoolean() ? random.nextInt(0xD800) : 0x10000 + random.nextInt(0x1000));
                }
            }
            ByteBuffer packed = ByteBuffer.wrap(CompactString.pack(text.toString()));
            assertThat(CompactString.utf8Length(packed)).isEqualTo(text.toString().getBytes(UTF_8).length);
            assertThat(CompactString.unpack(packed)).isEqualTo(text.toString());
        }
    }

    private static String hex(Random random, int bytes)
    {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return HexFormat.of().formatHex(value);
    }

    private static void assertPacked(String text, int length)
    {
        byte[] packed = CompactString.pack(text);
        assertThat(packed).hasSize(length);
        assertThat(CompactString.utf8Length(ByteBuffer.wrap(packed))).isEqualTo(text.getBytes(UTF_8).length);
        assertThat(CompactString.unpack(ByteBuffer.wrap(packed))).isEqualTo(text);
    }
}
