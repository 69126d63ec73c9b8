package io.cachedhive.hive.filesystem;

import io.airlift.slice.Slice;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.cache.TrinoFileSystemCache;
import io.trino.plugin.hive.HiveConnectorFactory;
import io.trino.spi.Plugin;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;
import static java.util.Objects.requireNonNull;

/**
 * Trino's own Hive connector, under the name {@value #NAME}, which tells of every read of a data file.
 */
public final class RecordingPlugin
        implements Plugin
{
    public static final String NAME = "recording";

    private final ReadListener listener;

    public interface ReadListener
    {
        void read(Location file, long position, int length);
    }

    public RecordingPlugin(ReadListener listener)
    {
        this.listener = requireNonNull(listener, "listener is null");
    }

    @Override
    public Iterable<ConnectorFactory> getConnectorFactories()
    {
        return List.of(new ConnectorFactory()
        {
            @Override
            public String getName()
            {
                return NAME;
            }

            @Override
            public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
            {
                return HiveConnectorFactory.createConnector(
                        catalogName,
                        config,
                        context,
                        () -> binder -> newOptionalBinder(binder, TrinoFileSystemCache.class).setBinding().toInstance(new RecordingCache()),
                        Optional.empty(),
                        false,
                        Optional.empty());
            }
        });
    }

    /**
     * Caches nothing.
     */
    private final class RecordingCache
            implements TrinoFileSystemCache
    {
        @Override
        public TrinoInput cacheInput(TrinoInputFile delegate, String key)
                throws IOException
        {
            return new RecordingInput(delegate.location(), delegate.length(), delegate.newInput());
        }

        @Override
        public TrinoInputStream cacheStream(TrinoInputFile delegate, String key)
                throws IOException
        {
            // metadata: data files are read at positions
            return delegate.newStream();
        }

        @Override
        public long cacheLength(TrinoInputFile delegate, String key)
                throws IOException
        {
            return delegate.length();
        }

        @Override
        public void expire(Location location) {}

        @Override
        public void expire(Collection<Location> locations) {}
    }

    private final class RecordingInput
            implements TrinoInput
    {
        private final Location file;
        private final long fileLength;
        private final TrinoInput delegate;

        private RecordingInput(Location file, long fileLength, TrinoInput delegate)
        {
            this.file = requireNonNull(file, "file is null");
            this.fileLength = fileLength;
            this.delegate = requireNonNull(delegate, "delegate is null");
        }

        @Override
        public void readFully(long position, byte[] buffer, int bufferOffset, int bufferLength)
                throws IOException
        {
            listener.read(file, position, bufferLength);
            delegate.readFully(position, buffer, bufferOffset, bufferLength);
        }

        @Override
        public int readTail(byte[] buffer, int bufferOffset, int bufferLength)
                throws IOException
        {
            int length = delegate.readTail(buffer, bufferOffset, bufferLength);
            listener.read(file, fileLength - length, length);
            return length;
        }

        @Override
        public Slice readTail(int length)
                throws IOException
        {
            Slice tail = delegate.readTail(length);
            listener.read(file, fileLength - tail.length(), tail.length());
            return tail;
        }

        @Override
        public void close()
                throws IOException
        {
            delegate.close();
        }
    }
}
