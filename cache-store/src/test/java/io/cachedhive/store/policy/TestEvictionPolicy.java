package io.cachedhive.store.policy;

import io.cachedhive.store.block.BlockClass;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static io.cachedhive.store.block.BlockClass.GUEST;
import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static io.cachedhive.store.policy.EvictionPolicy.NO_ENTRY;
import static org.assertj.core.api.Assertions.assertThat;

class TestEvictionPolicy
{
    private final Set<Integer> inUse = new HashSet<>();
    private final EvictionPolicy policy = policy();

    private EvictionPolicy policy()
    {
        FrequencySketch sketch = new FrequencySketch();
        sketch.setEntryCount(64);
        EvictionPolicy made = new EvictionPolicy(
                new EntryLinks(),
                new PolicyEntries()
                {
                    @Override
                    public long digestHigh(int entry)
                    {
                        return TraceSimulator.digest(entry).high();
                    }

                    @Override
                    public long digestLow(int entry)
                    {
                        return TraceSimulator.digest(entry).low();
                    }

                    @Override
                    public boolean isPinned(int entry)
                    {
                        return inUse.contains(entry);
                    }
                },
                sketch);
        made.setCapacity(64);
        return made;
    }

    @Test
    void lowestClassLeavesFirst()
    {
        policy.add(0, HIGH);
        policy.add(1, PINNED);
        policy.add(2, GUEST);
        policy.add(3, NORMAL);
        for (int i = 0; i < 5; i++) {
            // however often they are asked for
            policy.use(2);
        }
        assertThat(policy.pollVictim(HIGH)).isEqualTo(2);
        assertThat(policy.pollVictim(HIGH)).isEqualTo(3);
        assertThat(policy.pollVictim(NORMAL)).describedAs("a high one does not leave for a normal one").isEqualTo(NO_ENTRY);
        assertThat(policy.pollVictim(GUEST)).isEqualTo(NO_ENTRY);
        assertThat(policy.pollVictim(PINNED)).isEqualTo(0);
        assertThat(policy.pollVictim(PINNED)).describedAs("pinned ones stay").isEqualTo(NO_ENTRY);
        assertThat(policy.size()).isEqualTo(1);
        assertThat(policy.blockClass(1)).isEqualTo(PINNED);
    }

    @Test
    void classChanges()
    {
        policy.add(0, NORMAL);
        policy.add(1, NORMAL);
        policy.setClass(0, PINNED);
        assertThat(policy.blockClass(0)).isEqualTo(PINNED);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(1);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(NO_ENTRY);
        policy.setClass(0, GUEST);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(0);
    }

    @Test
    void blocksInUseArePassedOver()
    {
        for (int i = 0; i < 10; i++) {
            policy.add(i, NORMAL);
            inUse.add(i);
        }
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(NO_ENTRY);
        inUse.remove(7);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(7);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(NO_ENTRY);
        inUse.remove(3);
        policy.use(3);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(3);
    }

    @Test
    void aVictimThatIsAskedForComesBack()
    {
        for (int i = 0; i < 3; i++) {
            policy.add(i, NORMAL);
        }
        int victim = policy.pollVictim(NORMAL);
        assertThat(policy.contains(victim)).isFalse();
        policy.restore(victim, NORMAL);
        assertThat(policy.pollVictim(NORMAL)).isNotEqualTo(victim);
        assertThat(policy.pollVictim(NORMAL)).isNotEqualTo(victim);
        assertThat(policy.pollVictim(NORMAL)).isEqualTo(victim);
    }

    @Test
    void randomOperations()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("cachedhive.test.seed=" + seed);
        Random random = new Random(seed);
        Map<Integer, BlockClass> model = new HashMap<>();
        ArrayDeque<Integer> resting = new ArrayDeque<>();
        for (int step = 0; step < 200_000; step++) {
            int entry = random.nextInt(200);
            boolean present = model.containsKey(entry);
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    if (!present && !resting.contains(entry)) {
                        BlockClass blockClass = BlockClass.values()[random.nextInt(4)];
                        policy.add(entry, blockClass);
                        model.put(entry, blockClass);
                    }
                }
                case 2, 3, 4 -> {
                    if (present) {
                        policy.use(entry);
                    }
                }
                case 5 -> {
                    if (present && random.nextBoolean()) {
                        policy.remove(entry);
                        model.remove(entry);
                    }
                    else if (present) {
                        policy.setClass(entry, NORMAL);
                        model.put(entry, NORMAL);
                    }
                }
                case 6 -> {
                    BlockClass newcomer = BlockClass.values()[random.nextInt(4)];
                    if (random.nextBoolean()) {
                        inUse.clear();
                        random.ints(20, 0, 200).forEach(inUse::add);
                    }
                    int victim = policy.pollVictim(newcomer);
                    BlockClass lowest = lowestThatMayLeave(model, newcomer);
                    if (lowest == null) {
                        assertThat(victim).describedAs("seed %s", seed).isEqualTo(NO_ENTRY);
                    }
                    else {
                        assertThat(model.remove(victim)).describedAs("seed %s", seed).isEqualTo(lowest);
                        assertThat(inUse).doesNotContain(victim);
                        resting.add(victim);
                    }
                }
                default -> {
                    if (!resting.isEmpty()) {
                        int victim = resting.remove();
                        if (random.nextBoolean()) {
                            policy.restore(victim, HIGH);
                            model.put(victim, HIGH);
                        }
                    }
                }
            }
            assertThat(policy.size()).describedAs("seed %s", seed).isEqualTo(model.size());
            assertThat(policy.contains(entry)).describedAs("seed %s", seed).isEqualTo(model.containsKey(entry));
            if (model.containsKey(entry)) {
                assertThat(policy.blockClass(entry)).describedAs("seed %s", seed).isEqualTo(model.get(entry));
            }
        }
    }

    private BlockClass lowestThatMayLeave(Map<Integer, BlockClass> model, BlockClass newcomer)
    {
        BlockClass highest = newcomer.compareTo(NORMAL) > 0 ? HIGH : NORMAL;
        return model.entrySet().stream()
                .filter(entry -> !inUse.contains(entry.getKey()) && entry.getValue().compareTo(highest) <= 0)
                .map(Map.Entry::getValue)
                .min(BlockClass::compareTo)
                .orElse(null);
    }
}
