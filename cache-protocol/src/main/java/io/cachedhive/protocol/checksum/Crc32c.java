package io.cachedhive.protocol.checksum;

/**
 * Arithmetic on CRC32C values.
 */
final class Crc32c
{
    // Castagnoli's polynomial with the coefficient of x^0 in the highest bit
    private static final int POLYNOMIAL = 0x82F63B78;
    private static final int ONE = 1 << 31;
    // x^(8 * 2^k) modulo the polynomial
    private static final int[] BYTE_POWERS = new int[31];

    static {
        // x^8
        BYTE_POWERS[0] = ONE >>> 8;
        for (int k = 1; k < BYTE_POWERS.length; k++) {
            BYTE_POWERS[k] = multiply(BYTE_POWERS[k - 1], BYTE_POWERS[k - 1]);
        }
    }

    private Crc32c() {}

    /**
     * Returns the CRC32C of two adjacent ranges from the CRC32C of each: a checksum is a remainder of polynomials, so
     * the first one is multiplied by x^8 for each byte of the second range (Adler, zlib's crc32_combine).
     *
     * @param secondLength bytes of the second range
     */
    static int combine(int first, int second, int secondLength)
    {
        return multiply(shift(secondLength), first) ^ second;
    }

    private static int shift(int bytes)
    {
        if (bytes < 0) {
            throw new IllegalArgumentException("length is negative: " + bytes);
        }
        int power = ONE;
        for (int k = 0; bytes >>> k != 0; k++) {
            if (((bytes >>> k) & 1) != 0) {
                power = multiply(power, BYTE_POWERS[k]);
            }
        }
        return power;
    }

    private static int multiply(int first, int second)
    {
        int product = 0;
        int factor = second;
        for (int bits = first; bits != 0; bits <<= 1) {
            // branches on bits of a checksum cannot be predicted
            product ^= factor & (bits >> 31);
            factor = (factor >>> 1) ^ (POLYNOMIAL & -(factor & 1));
        }
        return product;
    }
}
