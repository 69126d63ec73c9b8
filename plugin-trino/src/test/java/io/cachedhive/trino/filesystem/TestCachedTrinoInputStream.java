package io.cachedhive.trino.filesystem;

import io.cachedhive.client.CachedFile;
import io.cachedhive.client.PendingReadAhead;
import io.cachedhive.client.StreamRead;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ClientCounters;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.memory.MemoryFileSystem;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A stream whose cache stops serving after the first block.
 */
class TestCachedTrinoInputStream
{
    private static final int BLOCK = 1 << 20;
    private static final Location LOCATION = Location.of("memory:///file");

    private final byte[] content = new byte[3 * BLOCK];
    private final MemoryFileSystem fileSystem = new MemoryFileSystem();
    private final FirstBlockCached file = new FirstBlockCached();

    @BeforeEach
    void setUp()
            throws IOException
    {
        new Random(3).nextBytes(content);
        fileSystem.newOutputFile(LOCATION).createOrOverwrite(content);
    }

    private TrinoInputStream open()
    {
        return new CachedTrinoInputStream(LOCATION, content.length, content.length, file, () -> {}, () -> fileSystem.newInputFile(LOCATION).newStream(), Runnable::run);
    }

    private record Delivery(long position, int length, boolean continued) {}

    @Test
    void testGoesOnWithTheOrigin()
            throws IOException
    {
        try (TrinoInputStream stream = open()) {
            assertThat(stream.readNBytes(BLOCK)).isEqualTo(Arrays.copyOf(content, BLOCK));
            assertThat(stream.readNBytes(5)).isEqualTo(Arrays.copyOfRange(content, BLOCK, BLOCK + 5));
            assertThat(stream.getPosition()).isEqualTo(BLOCK + 5);
            assertThat(stream.read()).isEqualTo(content[BLOCK + 5] & 0xFF);
            assertThat(stream.skip(10)).isEqualTo(10);
            stream.skipNBytes(4);
            assertThat(stream.getPosition()).isEqualTo(BLOCK + 20);
            assertThat(stream.readNBytes(100)).isEqualTo(Arrays.copyOfRange(content, BLOCK + 20, BLOCK + 120));
            stream.seek(7);
            assertThat(stream.readNBytes(10)).isEqualTo(Arrays.copyOfRange(content, 7, 17));
            assertThat(stream.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, 17, content.length));
            assertThat(stream.read()).isEqualTo(-1);
        }
        assertThat(file.deliveries).containsExactly(new Delivery(BLOCK, 5, true));
        assertThat(file.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(BLOCK);
        assertThat(file.observer.bytes(ReadSource.BYPASS)).isEqualTo(5 + 1 + 100 + content.length - 7);
    }

    @Test
    void testReadsAllFromTheOrigin()
            throws IOException
    {
        try (TrinoInputStream stream = open()) {
            stream.readNBytes(10);
            assertThat(stream.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, 10, content.length));
        }
        try (TrinoInputStream stream = open()) {
            stream.seek(BLOCK);
            assertThat(stream.readAllBytes()).isEqualTo(Arrays.copyOfRange(content, BLOCK, content.length));
        }
        assertThat(file.deliveries).extracting(Delivery::continued).containsExactly(true, false);
    }

    /// A reader that finds an end there takes what it has for the whole file.
    @Test
    void testOriginThatEndsBeforeTheCachedBytes()
            throws IOException
    {
        try (TrinoInputStream stream = open()) {
            stream.readNBytes(BLOCK);
            fileSystem.newOutputFile(LOCATION).createOrOverwrite(Arrays.copyOf(content, BLOCK));
            assertThat(stream.read(new byte[10])).isNegative();
        }
        assertThat(file.deliveries).containsExactly(new Delivery(BLOCK, 0, true));
    }

    @Test
    void testBytesThatMayNotBeGivenAreNotSkipped()
            throws IOException
    {
        try (TrinoInputStream stream = open()) {
            stream.readNBytes(BLOCK);
            file.failure = new IOException("503");
            assertThatThrownBy(() -> stream.read(new byte[10])).hasMessage("503");
            assertThat(stream.getPosition()).isEqualTo(BLOCK);
            file.failure = null;
            assertThat(stream.readNBytes(10)).isEqualTo(Arrays.copyOfRange(content, BLOCK, BLOCK + 10));
        }
    }

    private final class FirstBlockCached
            implements CachedFile
    {
        private final ReadObserver observer = new ReadObserver();
        private final ClientCounters counters = new ClientCounters();
        private final List<Delivery> deliveries = new ArrayList<>();
        private IOException failure;

        @Override
        public StreamRead readAhead(long position, byte[] buffer, int offset, int length)
        {
            if (position + length > BLOCK) {
                return new StreamRead.Bypassed(BypassCause.TIMEOUT, 0);
            }
            System.arraycopy(content, (int) position, buffer, offset, length);
            long[] bytesBySource = new long[ReadSource.values().length];
            bytesBySource[ReadSource.RAM_HIT.ordinal()] = length;
            return new StreamRead.Served(new ReadAhead(counters.table("s.t"), observer, bytesBySource, new long[BypassCause.values().length], 0));
        }

        @Override
        public ReadAhead deliverFromOrigin(long position, int length, BypassCause cause, long waitNanos, boolean continued)
                throws IOException
        {
            if (failure != null) {
                throw failure;
            }
            deliveries.add(new Delivery(position, length, continued));
            return ReadAhead.ofBypass(counters.table("s.t"), observer, cause, Long.MAX_VALUE, waitNanos);
        }

        @Override
        public Optional<PendingReadAhead> beginReadAhead(long position, int length, Executor executor)
        {
            throw new AssertionError("nothing of it came from a worker");
        }

        @Override
        public void readFully(long position, byte[] buffer, int offset, int length)
        {
            throw new AssertionError("not by a stream");
        }

        @Override
        public int readTail(byte[] buffer, int offset, int maxLength)
        {
            throw new AssertionError("not by a stream");
        }
    }
}
