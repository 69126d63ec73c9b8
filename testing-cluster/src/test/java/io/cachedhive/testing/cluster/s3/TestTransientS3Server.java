package io.cachedhive.testing.cluster.s3;

import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestTransientS3Server
        extends AbstractTestS3Service
{
    @Override
    protected S3Service start()
    {
        return S3Server.builder().bucket(BUCKET).start();
    }

    @Test
    void testRefusesPortInUse()
    {
        try (S3Server first = S3Server.builder().start()) {
            assertThatThrownBy(() -> S3Server.builder().port(first.endpoint().getPort()).start())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("S3 server cannot listen on 127.0.0.1:" + first.endpoint().getPort());
        }
    }

    @Test
    void testTimesInMemoryCannotBeSet()
    {
        try (S3Server s3 = S3Server.builder().bucket(BUCKET).start()) {
            assertThatThrownBy(() -> s3.setLastModified(BUCKET, "data", Instant.EPOCH)).hasMessage("this S3 server keeps its objects in memory");
        }
    }

    @Test
    void testListensOnLoopbackOnly()
    {
        assertThatThrownBy(() -> S3Server.builder().address("0.0.0.0").start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not a loopback address: 0.0.0.0");
        try (S3Server other = S3Server.builder().address("127.0.0.2").start()) {
            assertThat(other.endpoint().getHost()).isEqualTo("127.0.0.2");
        }
    }

    @Test
    void testStopsWhileGetsAreHeld()
            throws Exception
    {
        S3Server s3 = S3Server.builder().bucket(BUCKET).start();
        try (S3Client client = s3.client()) {
            client.putObject(request -> request.bucket(BUCKET).key("data"), RequestBody.fromString("x"));
            S3Hold hold = s3.hold(S3Hold.Rule.allGets());
            FutureTask<?> reader = new FutureTask<>(() -> client.getObjectAsBytes(request -> request.bucket(BUCKET).key("data")));
            Thread.ofPlatform().daemon().start(reader);
            hold.awaitHeld(1, Duration.ofSeconds(60));
            s3.close();
            // it gets its answer or a cut connection, whichever is first, and waits for nothing
            assertThat(reader).satisfiesAnyOf(
                    answered -> assertThat(answered).succeedsWithin(Duration.ofSeconds(60)),
                    cut -> assertThat(cut).failsWithin(Duration.ofSeconds(60)).withThrowableOfType(ExecutionException.class).withRootCauseInstanceOf(ConnectException.class));
        }
        assertThat(s3.inFlight()).isEmpty();
    }
}
