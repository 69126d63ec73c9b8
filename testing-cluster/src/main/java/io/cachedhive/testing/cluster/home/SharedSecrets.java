package io.cachedhive.testing.cluster.home;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Generates shared secrets for cache workers and the catalogs that read through them.
 */
public final class SharedSecrets
{
    // a multiple of three, so that Base64 adds no padding
    private static final int RANDOM_BYTES = 36;

    private SharedSecrets() {}

    /** Returns a random secret of 48 characters. */
    public static String generate()
    {
        byte[] bytes = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
