package io.cachedhive.testing.cluster.s3;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("slow")
class TestS3ServerProcess
        extends AbstractTestS3Service
{
    @TempDir
    static Path directory;

    @Override
    protected S3Service start()
    {
        return S3ServerProcess.builder(directory).heapMegabytes(128).bucket(BUCKET).start();
    }

    @Test
    void testProcessEndsWithService(@TempDir Path path)
    {
        S3ServerProcess s3 = S3ServerProcess.builder(path).heapMegabytes(64).start();
        assertThat(s3.handle().isAlive()).isTrue();
        s3.close();
        assertThat(s3.handle().isAlive()).isFalse();
    }

    @Test
    void testSaysWhyItDidNotStart(@TempDir Path path)
    {
        try (S3Server holder = S3Server.builder().start()) {
            assertThatThrownBy(() -> S3ServerProcess.builder(path).heapMegabytes(64).port(holder.endpoint().getPort()).start())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("S3 server did not start: S3 server cannot listen on 127.0.0.1:" + holder.endpoint().getPort());
        }
    }
}
