package io.cachedhive.store.file;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestRecordHeap
{
    @Test
    void keepsRecordsOfAnyLength()
    {
        long seed = Long.getLong("test.seed", System.nanoTime());
        System.out.println("test.seed=" + seed);
        Random random = new Random(seed);
        RecordHeap heap = new RecordHeap();
        Map<Integer, byte[]> model = new HashMap<>();
        List<Integer> owners = new ArrayList<>();
        int next = 0;
        for (int step = 0; step < 100_000; step++) {
            // grows and shrinks in turns, down to nothing
            boolean adds = random.nextInt(100) < (step / 20_000 % 2 == 0 ? 70 : 20);
            if (adds) {
                byte[] record = new byte[length(random)];
                random.nextBytes(record);
                heap.add(next, record, record.length);
                model.put(next, record);
                owners.add(next);
                next++;
            }
            else if (!owners.isEmpty()) {
                int place = random.nextInt(owners.size());
                int owner = owners.get(place);
                owners.set(place, owners.getLast());
                owners.removeLast();
                heap.remove(owner);
                model.remove(owner);
            }
            if (!owners.isEmpty()) {
                assertRecord(heap, model, owners.get(random.nextInt(owners.size())));
            }
        }
        model.keySet().forEach(owner -> assertRecord(heap, model, owner));
    }

    private static int length(Random random)
    {
        return switch (random.nextInt(20)) {
            case 0 -> 0;
            case 1 -> random.nextInt(5000);
            case 2 -> random.nextInt(40) == 0 ? 100_000 : 512;
            default -> random.nextInt(200);
        };
    }

    private static void assertRecord(RecordHeap heap, Map<Integer, byte[]> model, int owner)
    {
        byte[] expected = model.get(owner);
        ByteBuffer found = heap.get(owner);
        assertThat(found.remaining()).isGreaterThanOrEqualTo(expected.length);
        assertThat(found.slice(0, expected.length)).isEqualTo(ByteBuffer.wrap(expected));
    }

    @Test
    void tellsWhatIsGone()
    {
        RecordHeap heap = new RecordHeap();
        heap.add(1, new byte[10], 10);
        heap.add(2, new byte[10], 10);
        heap.remove(1);
        assertThat(heap.get(2).slice(0, 10)).isEqualTo(ByteBuffer.allocate(10));
        assertThatThrownBy(() -> heap.get(1)).hasMessageContaining("the record of 1 is that of 2");
        assertThatThrownBy(() -> heap.remove(1)).hasMessageContaining("the record of 1 is another's");
    }
}
