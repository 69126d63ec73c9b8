package io.cachedhive.store;

import io.cachedhive.store.disk.Disk.Access;
import io.cachedhive.store.disk.DiskFile;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What is left of a small file whose replacement was cut short, or failed, by a loss of power.
 */
class TestReplacedFiles
{
    private static final Path FILE = Path.of("/state/tombstones");
    private static final int ROUNDS = 200;
    // longer than a page, so that it can be torn; the old one is longer than the new one
    private static final byte[] OLD = "old ".repeat(3000).getBytes(UTF_8);
    private static final byte[] NEW = "new ".repeat(2000).getBytes(UTF_8);

    private final Random random = random();

    private static Random random()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        return new Random(seed);
    }

    /**
     * Guards against a content that is not synced before the rename, and a rename that is not synced after it.
     */
    @Test
    void aPowerCutLeavesTheOldOrTheNewContent()
            throws Exception
    {
        for (int round = 0; round < ROUNDS; round++) {
            FakeDisk disk = diskWithOld();
            boolean replaced = false;
            for (int writes = 0; !replaced; writes++) {
                disk.turnOffAfter(writes);
                replaced = isReplaced(disk);
                disk.turnOff();
                disk.turnOn(random);
                // a return is a promise
                assertContent(disk, !replaced);
            }
        }
    }

    @Test
    void thePowerCutAfterAFailureLeavesTheOldOrTheNewContent()
            throws Exception
    {
        for (int round = 0; round < ROUNDS; round++) {
            FakeDisk disk = diskWithOld();
            boolean replaced = false;
            for (int writes = 0; !replaced; writes++) {
                disk.failAfter(writes, 1, random);
                replaced = isReplaced(disk);
                assertThat(replaced).isEqualTo(disk.faults() == 0);
                assertThat(disk.read(FILE)).satisfiesAnyOf(
                        content -> assertThat(content).contains(OLD),
                        content -> assertThat(content).contains(NEW));
                if (random.nextBoolean()) {
                    disk.turnOff();
                    disk.turnOn(random);
                    assertContent(disk, !replaced);
                }
            }
            disk.restartProcess();
            // what the failures left is not in the way
            disk.replace(FILE, OLD);
            disk.turnOff();
            disk.turnOn(random);
            assertThat(disk.read(FILE)).contains(OLD);
        }
    }

    @Test
    void aFirstFileIsThereOnceItIsWritten()
            throws Exception
    {
        for (int round = 0; round < ROUNDS; round++) {
            FakeDisk disk = new FakeDisk();
            disk.turnOffAfter(round % 5);
            assertThat(isReplaced(disk)).isFalse();
            disk.turnOn(random);
            Optional<byte[]> found = disk.read(FILE);
            found.ifPresent(content -> assertThat(content).isEqualTo(NEW));

            disk.replace(FILE, NEW);
            disk.turnOff();
            disk.turnOn(random);
            assertThat(disk.read(FILE)).contains(NEW);
            assertThat(disk.list(FILE.getParent())).containsExactly("tombstones");
        }
    }

    /**
     * Guards against a fake disk that promises more than Linux: the page is clean after the sync that failed, and the
     * next sync does not write it.
     */
    @Test
    void aSyncAfterAFailedOneWritesNothing()
            throws Exception
    {
        int lost = 0;
        for (int round = 0; round < ROUNDS; round++) {
            FakeDisk disk = diskWithOld();
            try (DiskFile file = disk.open(FILE, false, Access.BUFFERED)) {
                disk.failAfter(1, 1, random);
                file.write(0, ByteBuffer.allocateDirect(4).put("lost".getBytes(UTF_8)).flip());
                assertThatThrownBy(file::sync).isInstanceOf(IOException.class);
                file.sync();
            }
            assertThat(new String(disk.bytes(FILE), UTF_8)).startsWith("lost");
            disk.turnOff();
            disk.turnOn(random);
            lost += new String(disk.bytes(FILE), UTF_8).startsWith("lost") ? 0 : 1;
        }
        assertThat(lost).isBetween(1, ROUNDS - 1);
    }

    private static FakeDisk diskWithOld()
    {
        FakeDisk disk = new FakeDisk();
        disk.setBytes(FILE, OLD);
        return disk;
    }

    private static boolean isReplaced(FakeDisk disk)
    {
        try {
            disk.replace(FILE, NEW);
            return true;
        }
        catch (IOException e) {
            return false;
        }
    }

    private static void assertContent(FakeDisk disk, boolean mayBeOld)
            throws IOException
    {
        byte[] content = disk.read(FILE).orElseThrow();
        if (!mayBeOld || content.length != OLD.length) {
            assertThat(new String(content, UTF_8)).isEqualTo(new String(NEW, UTF_8));
        }
        else {
            assertThat(new String(content, UTF_8)).isEqualTo(new String(OLD, UTF_8));
        }
    }
}
