package io.cachedhive.trino.filesystem;

import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.memory.MemoryFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads of the origin for a stream: in line from one request, and apart from it.
 */
@Timeout(120)
class TestTrinoOriginStream
{
    private static final Location LOCATION = Location.of("memory:///file");

    private final byte[] content = new byte[1000];
    private final MemoryFileSystem fileSystem = new MemoryFileSystem();
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);

    @BeforeEach
    void setUp()
            throws IOException
    {
        new Random(5).nextBytes(content);
        fileSystem.newOutputFile(LOCATION).createOrOverwrite(content);
    }

    /**
     * A hedge's request that is not answered delays neither the reads of the stream nor its end.
     */
    @Test
    void testNobodyWaitsForAReadApart()
            throws Exception
    {
        byte[] apart = new byte[100];
        TrinoOriginStream stream = new TrinoOriginStream(new SilentInputFile(), Instant.now(), SilentInputFile::new);
        CompletableFuture<Void> hedge = async(() -> stream.readApart(500, apart, 0, 100));
        asked.await();
        try {
            byte[] inLine = new byte[10];
            async(() -> {
                // the first read is out of line, and the second continues it
                stream.readFully(0, inLine, 0, 0);
                stream.readFully(0, inLine, 0, 10);
                stream.close();
            }).get(1, MINUTES);
            assertThat(inLine).isEqualTo(Arrays.copyOf(content, 10));
            assertThat(hedge).isNotDone();
        }
        finally {
            answer.countDown();
        }
        hedge.get();
        assertThat(apart).isEqualTo(Arrays.copyOfRange(content, 500, 600));
    }

    private interface Reads
    {
        void run()
                throws IOException;
    }

    private static CompletableFuture<Void> async(Reads reads)
    {
        return CompletableFuture.runAsync(() -> {
            try {
                reads.run();
            }
            catch (IOException e) {
                throw new AssertionError(e);
            }
        }, task -> Thread.ofPlatform().daemon().start(task));
    }

    /**
     * Its ranged reads wait for the test.
     */
    private final class SilentInputFile
            implements TrinoInputFile
    {
        private final TrinoInputFile file = fileSystem.newInputFile(LOCATION);

        @Override
        public TrinoInput newInput()
                throws IOException
        {
            TrinoInput input = file.newInput();
            return new TrinoInput()
            {
                @Override
                public void readFully(long position, byte[] buffer, int offset, int length)
                        throws IOException
                {
                    if (length == 0) {
                        return;
                    }
                    asked.countDown();
                    try {
                        answer.await();
                    }
                    catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    try (TrinoInput opened = file.newInput()) {
                        opened.readFully(position, buffer, offset, length);
                    }
                }

                @Override
                public int readTail(byte[] buffer, int offset, int length)
                        throws IOException
                {
                    return input.readTail(buffer, offset, length);
                }

                @Override
                public void close()
                        throws IOException
                {
                    input.close();
                }
            };
        }

        @Override
        public TrinoInputStream newStream()
                throws IOException
        {
            return file.newStream();
        }

        @Override
        public long length()
                throws IOException
        {
            return file.length();
        }

        @Override
        public Instant lastModified()
                throws IOException
        {
            return file.lastModified();
        }

        @Override
        public boolean exists()
                throws IOException
        {
            return file.exists();
        }

        @Override
        public Location location()
        {
            return LOCATION;
        }
    }
}
