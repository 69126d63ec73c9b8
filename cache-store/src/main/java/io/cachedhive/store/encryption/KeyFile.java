package io.cachedhive.store.encryption;

import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The file with the data key of an encrypted directory, which the operator's key encrypts. A directory is encrypted if
 * and only if it has this file.
 *
 * <pre>
 *   0 magic and version    8 nonce (24)    32 encrypted data key (32)    64 tag (16)    80 CRC32C of the 80 bytes before
 * </pre>
 */
public final class KeyFile
{
    public static final String NAME = "encryption-key";

    private static final long MAGIC = 0x01_59_45_4B_56_48_43_1BL; // 1B "CHVKEY", version 1
    private static final int CHECKSUM_OFFSET = 8 + OperatorKey.BYTES + DataCipher.OVERHEAD_BYTES;
    private static final int FILE_BYTES = CHECKSUM_OFFSET + 4;

    private KeyFile() {}

    /**
     * What a directory has instead of a data key that the operator's key opens.
     */
    public enum Outcome
    {
        OPENED,
        /**
         * The directory is not encrypted.
         */
        NO_FILE,
        /**
         * The file is damaged, so the directory cannot be read any more.
         */
        KEY_CORRUPT,
        /**
         * Another key encrypts the data key.
         */
        KEY_WRONG,
        /**
         * The directory is encrypted, and no key is configured.
         */
        KEY_MISSING,
    }

    /**
     * @param cipher empty unless the file was opened
     */
    public record Opened(Outcome outcome, Optional<DataCipher> cipher)
    {
        /**
         * Rejects a directory that another key encrypts.
         *
         * @param directory its name, for the message
         * @throws StoreException if the outcome is KEY_WRONG or KEY_MISSING
         */
        public Opened requireKey(String directory)
                throws StoreException
        {
            return switch (outcome) {
                case KEY_MISSING -> throw new StoreException(
                        "%s is encrypted, and no key is configured (KEY_MISSING): set cache.encryption.key-file, or remove the files in the directory to start empty"
                                .formatted(directory));
                case KEY_WRONG -> throw new StoreException(
                        ("%s is encrypted with another key (KEY_WRONG): configure that key in cache.encryption.*, replace it with 'cache-worker rekey', "
                                + "or remove the files in the directory to start empty")
                                .formatted(directory));
                default -> this;
            };
        }
    }

    /**
     * Reads the data key of a directory.
     *
     * @param key the operator's key, if one is configured
     */
    public static Opened open(Path directory, Disk disk, Optional<OperatorKey> key)
            throws IOException
    {
        Optional<byte[]> content = disk.read(directory.resolve(NAME));
        if (content.isEmpty()) {
            return new Opened(Outcome.NO_FILE, Optional.empty());
        }
        if (key.isEmpty()) {
            return new Opened(Outcome.KEY_MISSING, Optional.empty());
        }
        Unwrapped unwrapped = unwrap(content.get(), key.get());
        return new Opened(unwrapped.outcome(), unwrapped.dataKey().map(DataCipher::new));
    }

    private record Unwrapped(Outcome outcome, Optional<byte[]> dataKey) {}

    private static Unwrapped unwrap(byte[] content, OperatorKey key)
    {
        ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        if (content.length != FILE_BYTES || buffer.getLong(0) != MAGIC || buffer.getInt(CHECKSUM_OFFSET) != checksum(content)) {
            return new Unwrapped(Outcome.KEY_CORRUPT, Optional.empty());
        }
        try {
            return new Unwrapped(Outcome.OPENED, Optional.of(key.cipher().open(associatedData(), Arrays.copyOfRange(content, 8, CHECKSUM_OFFSET))));
        }
        catch (DataCipher.UnauthenticException e) {
            return new Unwrapped(Outcome.KEY_WRONG, Optional.empty());
        }
    }

    /**
     * Writes a file with a new random data key, which replaces any earlier one; durable on return.
     */
    public static DataCipher create(Path directory, Disk disk, OperatorKey key)
            throws IOException
    {
        byte[] dataKey = DataCipher.randomBytes(OperatorKey.BYTES);
        write(directory, disk, key, dataKey);
        return new DataCipher(dataKey);
    }

    /**
     * Encrypts the data key of a directory with another key of the operator; durable on return. After a crash, one of
     * the two keys opens the directory.
     *
     * @return OPENED if the new key now opens the directory, even if it did so before; otherwise the reason why nothing
     *         was changed
     */
    public static Outcome rekey(Path directory, Disk disk, OperatorKey oldKey, OperatorKey newKey)
            throws IOException
    {
        Optional<byte[]> content = disk.read(directory.resolve(NAME));
        if (content.isEmpty()) {
            return Outcome.NO_FILE;
        }
        if (unwrap(content.get(), newKey).outcome() == Outcome.OPENED) {
            return Outcome.OPENED;
        }
        Unwrapped unwrapped = unwrap(content.get(), oldKey);
        if (unwrapped.dataKey().isPresent()) {
            write(directory, disk, newKey, unwrapped.dataKey().get());
        }
        return unwrapped.outcome();
    }

    private static void write(Path directory, Disk disk, OperatorKey key, byte[] dataKey)
            throws IOException
    {
        byte[] content = new byte[FILE_BYTES];
        ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(MAGIC).put(key.cipher().seal(associatedData(), dataKey));
        buffer.putInt(checksum(content));
        disk.replace(directory.resolve(NAME), content);
    }

    private static byte[] associatedData()
    {
        return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(MAGIC).array();
    }

    private static int checksum(byte[] content)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(content, 0, CHECKSUM_OFFSET);
        return (int) checksum.getValue();
    }
}
