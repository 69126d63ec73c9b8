package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import org.junit.jupiter.api.Test;

import java.time.Duration;

import static io.cachedhive.store.block.BlockClass.GUEST;
import static io.cachedhive.store.block.BlockClass.HIGH;
import static io.cachedhive.store.block.BlockClass.NORMAL;
import static io.cachedhive.store.block.BlockClass.PINNED;
import static io.cachedhive.store.policy.TraceSimulator.digest;
import static io.cachedhive.store.ssd.TracedDirectory.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Classes, expiry, admission and order after a restart, in a directory with some hundred places.
 */
class TestDirectoryPolicy
{
    private static final int PLACES = 200;

    private static BlockTerms terms(BlockClass blockClass)
    {
        return new BlockTerms(blockClass, BlockTerms.NEVER);
    }

    private static void fill(TracedDirectory directory, int first, int count, BlockTerms terms)
    {
        for (int i = first; i < first + count; i++) {
            directory.request(digest(i), BLOCK, terms);
        }
    }

    private static int countThere(TracedDirectory directory, int first, int count)
    {
        int there = 0;
        for (int i = first; i < first + count; i++) {
            there += directory.contains(digest(i)) ? 1 : 0;
        }
        return there;
    }

    @Test
    void guestsGoFirst()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            int guests = directory.places() / 4;
            int normal = directory.places() - guests;
            fill(directory, 0, guests, terms(GUEST));
            fill(directory, 1000, normal, terms(NORMAL));
            for (int i = 0; i < 3; i++) {
                // however often they are asked for
                fill(directory, 0, guests, terms(GUEST));
            }
            assertThat(directory.evictions()).isZero();
            fill(directory, 2000, guests - 1, terms(NORMAL));
            assertThat(countThere(directory, 1000, normal)).isEqualTo(normal);
            assertThat(countThere(directory, 2000, guests - 1)).isEqualTo(guests - 1);
            assertThat(countThere(directory, 0, guests)).isEqualTo(1);
            directory.checkInvariants();
        }
    }

    @Test
    void pinnedOnesStay()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            int pinned = directory.places() / 2;
            fill(directory, 0, pinned, terms(PINNED));
            fill(directory, 1000, 5 * PLACES, terms(HIGH));
            assertThat(countThere(directory, 0, pinned)).isEqualTo(pinned);
            fill(directory, 5000, directory.places(), terms(PINNED));
            assertThat(countThere(directory, 0, pinned)).isEqualTo(pinned);
            assertThat(countThere(directory, 5000, directory.places())).isEqualTo(directory.places() - pinned);
            // and then there is no room for anybody
            fill(directory, 8000, 10, terms(HIGH));
            assertThat(countThere(directory, 8000, 10)).isZero();
            directory.checkInvariants();
        }
    }

    @Test
    void pinnedOnesStayWhenSizesChange()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            int every = 16;
            for (int i = 0; i < directory.places(); i++) {
                directory.request(digest(i), BLOCK, terms(i % every == 0 ? PINNED : NORMAL));
            }
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 500; i++) {
                    directory.request(digest(10_000 + i), 20_000, terms(NORMAL));
                }
            }
            assertThat(countThere(directory, 10_000, 500)).isGreaterThan(250);
            for (int i = 0; i < directory.places(); i += every) {
                assertThat(directory.contains(digest(i))).describedAs("block %s", i).isTrue();
            }
            directory.checkInvariants();
        }
    }

    @Test
    void normalOnesDoNotLeaveForGuestsBeforeGuestsDo()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            fill(directory, 0, directory.places() - 10, terms(HIGH));
            fill(directory, 1000, 100, terms(NORMAL));
            assertThat(countThere(directory, 0, directory.places() - 10)).isEqualTo(directory.places() - 10);
            assertThat(countThere(directory, 1000, 100)).isEqualTo(10);
        }
    }

    @Test
    void expiredOnesGoBeforeOthers()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            int expiring = 50;
            fill(directory, 0, directory.places() - expiring, terms(NORMAL));
            fill(directory, 1000, expiring, new BlockTerms(PINNED, directory.nowSeconds() + 10));
            directory.advance(Duration.ofSeconds(10));
            fill(directory, 2000, expiring, terms(NORMAL));
            assertThat(directory.evictions()).isZero();
            assertThat(directory.expirations()).isEqualTo(expiring);
            assertThat(countThere(directory, 0, directory.places() - expiring)).isEqualTo(directory.places() - expiring);
            assertThat(countThere(directory, 2000, expiring)).isEqualTo(expiring);
            directory.checkInvariants();
        }
    }

    @Test
    void withRoomEverythingIsLetIn()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            makeItFilter(directory);
            // not asked for ever before
            fill(directory, 900_000, 100, terms(NORMAL));
            assertThat(countThere(directory, 900_000, 100)).isLessThan(10);
            assertThat(countThere(directory, 0, PLACES / 2)).isEqualTo(PLACES / 2);

            directory.advance(Duration.ofDays(1));
            long before = directory.blocks();
            directory.removeExpired();
            int free = (int) (before - directory.blocks());
            assertThat(free).isPositive();
            fill(directory, 1_000_000, free, terms(NORMAL));
            assertThat(countThere(directory, 1_000_000, free)).isEqualTo(free);
            directory.checkInvariants();
        }
    }

    /**
     * A hot set, and scans of what is read once: the filter saves writing those.
     */
    private static void makeItFilter(TracedDirectory directory)
    {
        BlockTerms expiring = new BlockTerms(NORMAL, directory.nowSeconds() + 3600);
        int next = 10_000;
        for (int round = 0; round < 100; round++) {
            fill(directory, 0, PLACES / 2, terms(NORMAL));
            fill(directory, 0, PLACES / 2, terms(NORMAL));
            fill(directory, next, PLACES, expiring);
            next += PLACES;
        }
    }

    @Test
    void higherClassesAreLetInPastTheFilter()
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            makeItFilter(directory);
            fill(directory, 900_000, 20, terms(HIGH));
            fill(directory, 910_000, 20, terms(PINNED));
            assertThat(countThere(directory, 900_000, 20)).isEqualTo(20);
            assertThat(countThere(directory, 910_000, 20)).isEqualTo(20);
        }
    }

    @Test
    void orderSurvivesARestart()
            throws Exception
    {
        orderSurvivesARestart(true);
    }

    @Test
    void orderSurvivesACrash()
            throws Exception
    {
        orderSurvivesARestart(false);
    }

    private static void orderSurvivesARestart(boolean clean)
            throws Exception
    {
        try (TracedDirectory directory = new TracedDirectory(PLACES)) {
            int places = directory.places();
            fill(directory, 0, places, terms(NORMAL));
            // the last are used again, from the last to the first: not the order in which they came
            for (int i = places - 1; i >= places / 2; i--) {
                directory.request(digest(i), BLOCK);
            }
            if (!clean) {
                directory.checkpoint();
                // those are in the journal only, and newer than all the checkpoint has
                fill(directory, 5000, places / 10, terms(NORMAL));
            }
            for (int restart = 0; restart < 2; restart++) {
                directory.restart(clean);
                directory.checkInvariants();
                assertThat(directory.blocks()).isEqualTo(places);
            }
            int evicted = clean ? 0 : places / 10;
            fill(directory, 10_000, places / 2 - evicted, terms(NORMAL));
            assertThat(countThere(directory, places / 2, places / 2)).describedAs("used twice").isGreaterThanOrEqualTo(places / 2 - 1);
            assertThat(countThere(directory, 0, places / 2)).isLessThanOrEqualTo(1);
            if (!clean) {
                assertThat(countThere(directory, 5000, places / 10)).describedAs("newest").isEqualTo(places / 10);
            }
        }
    }

    @Test
    void classesAndExpirySurviveARestart()
            throws Exception
    {
        for (boolean clean : new boolean[] {true, false}) {
            try (TracedDirectory directory = new TracedDirectory(PLACES)) {
                int places = directory.places();
                fill(directory, 0, 20, terms(PINNED));
                fill(directory, 100, 20, terms(HIGH));
                fill(directory, 200, 20, new BlockTerms(HIGH, directory.nowSeconds() + 100));
                fill(directory, 1000, places - 60, terms(NORMAL));
                directory.restart(clean);
                directory.advance(Duration.ofSeconds(100));
                fill(directory, 2000, places, terms(NORMAL));
                assertThat(countThere(directory, 0, 20)).isEqualTo(20);
                assertThat(countThere(directory, 100, 20)).isEqualTo(20);
                assertThat(countThere(directory, 200, 20)).isZero();
                assertThat(directory.expirations()).isEqualTo(20);
                directory.checkInvariants();
            }
        }
    }
}
