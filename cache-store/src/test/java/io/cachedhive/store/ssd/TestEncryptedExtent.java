package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.disk.LocalDisk;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.KeySource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class TestEncryptedExtent
{
    private static final int BLOCK = 16 << 10;
    private static final Digest128 DIGEST = new Digest128(1, 2);
    private static final Digest128 STORE = new Digest128(3, 4);
    private static final Digest128 OTHER = new Digest128(3, 5);
    private static final long SEQUENCE = 5;
    private static final long ETAG = 6;

    @TempDir
    private Path directory;

    private DataCipher cipher;
    private DataCipher otherCipher;

    @BeforeEach
    void createKeys()
            throws Exception
    {
        Disk disk = new LocalDisk();
        KeySource key = new KeySource.OfCommand("echo " + "12".repeat(32), Duration.ofSeconds(60));
        cipher = KeyFile.create(Files.createDirectories(directory.resolve("one")), disk, key.read());
        otherCipher = KeyFile.create(Files.createDirectories(directory.resolve("other")), disk, key.read());
    }

    private static byte[] payload(int length)
    {
        byte[] payload = new byte[length];
        new Random(length).nextBytes(payload);
        return payload;
    }

    private ExtentBuffers written(byte[] payload)
    {
        ExtentBuffers buffers = ExtentBuffers.allocate(BLOCK, true);
        EncryptedExtent.write(buffers, cipher, MemorySegment.ofArray(payload), DIGEST, SEQUENCE, ETAG, STORE);
        return buffers;
    }

    @Test
    void hasTheSizeOfAPlainExtent()
    {
        // around the lengths at which the trailer needs another unit
        for (int length : new int[] {1, 4016, 4031, 4032, 4033, 4095, 4096, 4097, BLOCK - 1, BLOCK}) {
            byte[] payload = payload(length);
            ExtentBuffers buffers = written(payload);
            assertThat(buffers.bytes().remaining()).isEqualTo(Extent.units(length) * Geometry.UNIT_BYTES);
            byte[] stored = new byte[length];
            buffers.bytes().get(0, stored);
            assertThat(stored).isNotEqualTo(payload);

            Arrays.fill(buffers.plain(), (byte) 0);
            assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG, length, STORE)).isTrue();
            assertThat(Arrays.copyOf(buffers.plain(), length)).isEqualTo(payload);
        }
    }

    @Test
    void isReadAsNoOtherBlock()
    {
        int length = 5000;
        ExtentBuffers buffers = written(payload(length));
        assertThat(EncryptedExtent.read(buffers, cipher, OTHER, SEQUENCE, ETAG, length, STORE)).isFalse();
        assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE + 1, ETAG, length, STORE)).isFalse();
        assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG + 1, length, STORE)).isFalse();
        assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG, length - 1, STORE)).isFalse();
        // differs in the second half only, which the trailer does not have
        assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG, length, OTHER)).isFalse();
        assertThat(EncryptedExtent.read(buffers, otherCipher, DIGEST, SEQUENCE, ETAG, length, STORE)).isFalse();
        assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG, length, STORE)).isTrue();
    }

    @Test
    void findsAnyDamage()
    {
        int length = 100;
        ExtentBuffers buffers = written(payload(length));
        ByteBuffer bytes = buffers.bytes();
        int trailer = bytes.limit() - Extent.TRAILER_BYTES;
        for (int i = 0; i < bytes.limit(); i++) {
            bytes.put(i, (byte) (bytes.get(i) ^ 4));
            // between payload and trailer is nothing
            boolean isGap = i >= length && i < trailer;
            assertThat(EncryptedExtent.read(buffers, cipher, DIGEST, SEQUENCE, ETAG, length, STORE)).describedAs("byte %s", i).isEqualTo(isGap);
            bytes.put(i, (byte) (bytes.get(i) ^ 4));
        }
    }

    @Test
    void namesItsWrite()
    {
        int length = 5000;
        ByteBuffer bytes = written(payload(length)).bytes();
        assertThat(EncryptedExtent.hasTrailer(bytes, STORE)).isTrue();
        assertThat(EncryptedExtent.hasTrailer(bytes, new Digest128(7, 8))).isFalse();
        assertThat(EncryptedExtent.isTrailerOf(bytes, SEQUENCE, length)).isTrue();
        assertThat(EncryptedExtent.isTrailerOf(bytes, SEQUENCE + 1, length)).isFalse();
    }
}
