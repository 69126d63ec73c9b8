package io.cachedhive.store.encryption;

import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestKeySource
{
    private static final String HEX = "0123456789abcdef".repeat(4);
    private static final String BASE64 = "ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private KeySource file(String text, String permissions)
            throws Exception
    {
        Path file = directory.resolve("key");
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        return new KeySource.OfFile(file);
    }

    private static KeySource command(String command)
    {
        return new KeySource.OfCommand(command, TIMEOUT);
    }

    /**
     * Returns what a directory with this key says to another key.
     */
    private KeyFile.Outcome opens(OperatorKey key, OperatorKey other)
            throws Exception
    {
        Disk disk = new LocalDisk();
        KeyFile.create(directory, disk, key);
        return KeyFile.open(directory, disk, Optional.of(other)).outcome();
    }

    @Test
    void readsTheSameKeyInAllForms()
            throws Exception
    {
        OperatorKey key = file(HEX + "\n", "rw-r-----").read();
        assertThat(opens(key, file(BASE64 + "\n", "rw-------").read())).isEqualTo(KeyFile.Outcome.OPENED);
        assertThat(opens(key, command("printf %s " + HEX.toUpperCase(Locale.ENGLISH)).read())).isEqualTo(KeyFile.Outcome.OPENED);
        assertThat(opens(key, command("echo " + HEX.replace('0', '1')).read())).isEqualTo(KeyFile.Outcome.KEY_WRONG);
    }

    @Test
    void rejectsWhatIsNoKey()
            throws Exception
    {
        rejects(file(HEX, "rw-r--r--"), "every user");
        rejects(file(HEX, "rw----rw-"), "every user");
        rejects(file(HEX.substring(1), "rw-------"), "32 bytes");
        rejects(file(BASE64.substring(4), "rw-------"), "32 bytes");
        rejects(file("", "rw-------"), "32 bytes");
        rejects(file(" ".repeat(5000), "rw-------"), "4096");
        rejects(new KeySource.OfFile(directory.resolve("missing")), "does not exist");
        rejects(new KeySource.OfEnvironment("CACHEDHIVE_TEST_NOT_SET"), "CACHEDHIVE_TEST_NOT_SET");
        rejects(command("echo " + HEX + "; exit 3"), "exit code 3");
        rejects(command("true"), "32 bytes");
        rejects(new KeySource.OfCommand("sleep 3600", Duration.ofMillis(1)), "did not end");
    }

    private static void rejects(KeySource source, String reason)
    {
        assertThatThrownBy(source::read).isInstanceOf(StoreException.class).hasMessageContaining(reason);
    }

    /**
     * A text that is nearly a key may be a part of one.
     */
    @Test
    void messageDoesNotRepeatTheKey()
            throws Exception
    {
        String almost = HEX.substring(1);
        assertThatThrownBy(file(almost, "rw-------")::read).isInstanceOf(StoreException.class).hasMessageNotContaining(almost.substring(0, 8));
    }

    @Test
    void rekeyKeepsTheDataKey()
            throws Exception
    {
        OperatorKey oldKey = OperatorKey.parse(HEX, "test");
        OperatorKey newKey = OperatorKey.parse(HEX.replace('0', '1'), "test");
        OperatorKey foreignKey = OperatorKey.parse(HEX.replace('0', '2'), "test");
        Disk disk = new LocalDisk();
        assertThat(KeyFile.rekey(directory, disk, oldKey, newKey)).isEqualTo(KeyFile.Outcome.NO_FILE);
        byte[] sealed = KeyFile.create(directory, disk, oldKey).seal(new byte[0], "text".getBytes(US_ASCII));
        assertThat(KeyFile.rekey(directory, disk, foreignKey, newKey)).isEqualTo(KeyFile.Outcome.KEY_WRONG);
        assertThat(KeyFile.open(directory, disk, Optional.of(oldKey)).outcome()).isEqualTo(KeyFile.Outcome.OPENED);

        assertThat(KeyFile.rekey(directory, disk, oldKey, newKey)).isEqualTo(KeyFile.Outcome.OPENED);
        assertThat(KeyFile.open(directory, disk, Optional.of(oldKey)).outcome()).isEqualTo(KeyFile.Outcome.KEY_WRONG);
        assertThat(KeyFile.open(directory, disk, Optional.of(newKey)).cipher().orElseThrow().open(new byte[0], sealed)).isEqualTo("text".getBytes(US_ASCII));
        // after an interrupted run, the same command goes on
        assertThat(KeyFile.rekey(directory, disk, oldKey, newKey)).isEqualTo(KeyFile.Outcome.OPENED);
    }

    @Test
    void damagedFileHasAName()
            throws Exception
    {
        OperatorKey key = OperatorKey.parse(HEX, "test");
        Disk disk = new LocalDisk();
        KeyFile.create(directory, disk, key);
        Path file = directory.resolve(KeyFile.NAME);
        byte[] content = Files.readAllBytes(file);
        for (int i = 0; i < content.length; i++) {
            byte[] changed = content.clone();
            changed[i] ^= 1;
            Files.write(file, changed);
            assertThat(KeyFile.open(directory, disk, Optional.of(key)).outcome()).isEqualTo(KeyFile.Outcome.KEY_CORRUPT);
        }
        assertThat(KeyFile.open(directory, disk, Optional.empty()).outcome()).isEqualTo(KeyFile.Outcome.KEY_MISSING);
    }
}
