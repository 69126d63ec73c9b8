package io.cachedhive.store.encryption;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestDataCipher
{
    private static final byte[] PLACE = "here".getBytes(US_ASCII);

    private static DataCipher cipher(int filler)
    {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) filler);
        return new DataCipher(key);
    }

    /**
     * The test vectors of the C2SP specification of XAES-256-GCM.
     */
    @Test
    void isXaes256Gcm()
    {
        assertThat(encrypt(cipher(1), "")).isEqualTo("ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271");
        assertThat(encrypt(cipher(3), "c2sp.org/XAES-256-GCM")).isEqualTo("986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d");
    }

    private static String encrypt(DataCipher cipher, String associatedData)
    {
        ByteBuffer encrypted = ByteBuffer.allocate("XAES-256-GCM".length() + DataCipher.TAG_BYTES);
        cipher.encrypt(
                "ABCDEFGHIJKLMNOPQRSTUVWX".getBytes(US_ASCII),
                associatedData.getBytes(US_ASCII),
                ByteBuffer.wrap("XAES-256-GCM".getBytes(US_ASCII)),
                encrypted);
        return HexFormat.of().formatHex(encrypted.array());
    }

    @Test
    void opensWhatItSealed()
            throws Exception
    {
        DataCipher cipher = cipher(7);
        for (int length : new int[] {0, 1, 15, 16, 17, 4096, 100_000}) {
            byte[] plain = new byte[length];
            new Random(length).nextBytes(plain);
            byte[] sealed = cipher.seal(PLACE, plain);
            assertThat(sealed).hasSize(length + DataCipher.OVERHEAD_BYTES);
            assertThat(cipher.open(PLACE, sealed)).isEqualTo(plain);
            assertThat(cipher(7).open(PLACE, sealed)).isEqualTo(plain);
        }
    }

    @Test
    void sealsTheSameBytesDifferently()
    {
        DataCipher cipher = cipher(7);
        assertThat(cipher.seal(PLACE, PLACE)).isNotEqualTo(cipher.seal(PLACE, PLACE));
    }

    @Test
    void rejectsWhatItDidNotSeal()
    {
        DataCipher cipher = cipher(7);
        byte[] sealed = cipher.seal(PLACE, new byte[100]);
        for (int i = 0; i < sealed.length; i++) {
            byte[] changed = sealed.clone();
            changed[i] ^= 1;
            rejects(cipher, PLACE, changed);
        }
        for (int length = 0; length < sealed.length; length++) {
            rejects(cipher, PLACE, Arrays.copyOf(sealed, length));
        }
        rejects(cipher, "there".getBytes(US_ASCII), sealed);
        rejects(cipher(8), PLACE, sealed);
    }

    private static void rejects(DataCipher cipher, byte[] place, byte[] sealed)
    {
        assertThatThrownBy(() -> cipher.open(place, sealed)).isInstanceOf(DataCipher.UnauthenticException.class);
    }
}
