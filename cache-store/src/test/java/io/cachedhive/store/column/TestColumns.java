package io.cachedhive.store.column;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class TestColumns
{
    private static final long SEED = Long.getLong("cachedhive.test.seed", System.nanoTime());

    @Test
    void whatWasSetIsThere()
    {
        System.out.println("-Dcachedhive.test.seed=" + SEED);
        Random random = new Random(SEED);
        IntColumn ints = new IntColumn(-7);
        LongColumn longs = new LongColumn();
        ByteColumn bytes = new ByteColumn();
        Map<Integer, Integer> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            int index = random.nextInt(1 << (1 + random.nextInt(17)));
            int value = random.nextInt();
            ints.set(index, value);
            longs.set(index, (long) value << 20);
            bytes.set(index, value);
            expected.put(index, value);
        }
        for (int index = 0; index < 1 << 17; index++) {
            Integer value = expected.get(index);
            assertThat(ints.find(index)).isEqualTo(value == null ? -7 : value);
            assertThat(bytes.find(index)).isEqualTo(value == null ? 0 : value.byteValue());
            if (value != null) {
                assertThat(ints.get(index)).isEqualTo(value);
                assertThat(longs.get(index)).isEqualTo((long) value << 20);
                assertThat(bytes.get(index)).isEqualTo(value.byteValue());
            }
        }
    }

    /**
     * Damaged data may name a thing by any number.
     */
    @Test
    void farElementsTakeLittle()
    {
        int far = 1 << 27;
        long before = allocatedBytes();
        IntColumn ints = new IntColumn(-1);
        ints.set(far, 5);
        ByteColumn bytes = new ByteColumn();
        bytes.set(far, 5);
        assertThat(allocatedBytes() - before).isLessThan(1 << 20);
        assertThat(ints.get(far)).isEqualTo(5);
        assertThat(ints.get(far - 5000)).isEqualTo(-1);
        assertThat(ints.find(far + 5000)).isEqualTo(-1);
        assertThat(bytes.get(far)).isEqualTo((byte) 5);
        assertThat(bytes.get(3)).isEqualTo((byte) 0);
    }

    private static long allocatedBytes()
    {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
