package io.cachedhive.testing.cluster.home;

import java.util.List;

/**
 * Options of processes that run for minutes only.
 */
public final class ShortLivedJvm
{
    /**
     * Options that leave out the second compiler. The processes of a test end before the code of the second compiler has paid for its compilation: with two
     * processors, it takes a third of the time of a test. Only this compiler uses the AES instructions of the processor, so TLS transfers about 15 MB per second.
     * Its use for the cipher alone, with high thresholds for all other code, takes longer: that code then keeps the profiling of the first compiler.
     * <p>
     * They also leave out the verification of classes, which takes an eighth of the start of a Trino server.
     */
    public static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote");

    private ShortLivedJvm() {}
}
