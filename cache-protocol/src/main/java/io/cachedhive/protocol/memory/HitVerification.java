package io.cachedhive.protocol.memory;

/**
 * Selects the hits in shared memory whose block is compared with its checksum.
 */
public enum HitVerification
{
    /**
     * Every hit. A hit reads all of the pieces of 64 KiB that it touches, however few bytes were requested.
     */
    FULL,
    /**
     * One hit in 8192, at random.
     */
    SAMPLED;

    /**
     * Returns the default of this machine. It is SAMPLED on processors on which the tests of the memory orders run.
     */
    public static HitVerification ofThisMachine()
    {
        return of(System.getProperty("os.arch"));
    }

    static HitVerification of(String architecture)
    {
        return architecture.equals("amd64") || architecture.equals("x86_64") ? SAMPLED : FULL;
    }
}
