package io.cachedhive.testing.cluster.s3;

import org.gaul.s3proxy.AccessGrant;
import org.gaul.s3proxy.BlobStores;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.shaded.org.eclipse.jetty.server.Server;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.Bucket;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.net.BindException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Throwables.getCausalChain;
import static java.util.Objects.requireNonNull;

/**
 * An S3 server in this process: S3Proxy over a directory or over memory, with a log of every HTTP request and with faults to order.
 */
public final class S3Server
        implements S3Service
{
    private static final String ALL_ADDRESSES = "0.0.0.0";
    // held so that the level stays: the log manager keeps loggers weakly
    private static final Logger S3PROXY_LOGGER = Logger.getLogger("org.gaul");

    private final S3Proxy proxy;
    private final RecordingHandler handler;
    private final WritableS3RequestLog log;
    private final URI endpoint;
    private final Optional<ObjectDirectory> objects;

    private S3Server(S3Proxy proxy, RecordingHandler handler, WritableS3RequestLog log, URI endpoint, Optional<ObjectDirectory> objects)
    {
        this.proxy = requireNonNull(proxy, "proxy is null");
        this.handler = requireNonNull(handler, "handler is null");
        this.log = requireNonNull(log, "log is null");
        this.endpoint = requireNonNull(endpoint, "endpoint is null");
        this.objects = requireNonNull(objects, "objects is null");
    }

    public static Builder builder()
    {
        return new Builder();
    }

    @Override
    public URI endpoint()
    {
        return endpoint;
    }

    @Override
    public S3RequestLog log()
    {
        return log;
    }

    @Override
    public List<S3Request> inFlight()
    {
        return handler.inFlight();
    }

    @Override
    public S3Faults faults()
    {
        return handler.faults();
    }

    @Override
    public void setFaults(S3Faults faults)
    {
        handler.setFaults(faults);
    }

    @Override
    public S3Hold hold(S3Hold.Rule rule)
    {
        return handler.hold(rule);
    }

    @Override
    public void setLastModified(String bucket, String key, Instant time)
    {
        objects.orElseThrow(() -> new IllegalStateException("this S3 server keeps its objects in memory")).setLastModified(bucket, key, time);
    }

    /** The same as {@code log().all()}. */
    public List<S3Request> requests()
    {
        return log.all();
    }

    @Override
    public void close()
    {
        handler.releaseAll();
        try {
            proxy.stop();
        }
        catch (Exception e) {
            throw new IllegalStateException("could not stop the S3 server at " + endpoint, e);
        }
        finally {
            log.close();
        }
    }

    public static final class Builder
    {
        private String address = "127.0.0.1";
        private int port;
        private Optional<Path> directory = Optional.empty();
        private Optional<Path> logFile = Optional.empty();
        private final List<String> buckets = new ArrayList<>();
        private final List<S3Reader> readers = new ArrayList<>();
        private S3Faults faults = S3Faults.NONE;

        private Builder() {}

        /** A loopback address; 127.0.0.1 if not called. */
        public Builder address(String address)
        {
            checkArgument(address.startsWith("127."), "not a loopback address: %s", address);
            this.address = address;
            return this;
        }

        /** Listens on all addresses. Only for a host that is a container of its own: everybody else's network is no place for this server. */
        public Builder allAddresses()
        {
            address = ALL_ADDRESSES;
            return this;
        }

        /** 0, the default, takes a free one. */
        public Builder port(int port)
        {
            this.port = port;
            return this;
        }

        /** Keeps the objects under this directory, one directory per bucket; without it they are in memory and gone with the server. */
        public Builder directory(Path directory)
        {
            this.directory = Optional.of(directory);
            return this;
        }

        /** Appends the log to this file; without it the log is in memory. */
        public Builder logFile(Path logFile)
        {
            this.logFile = Optional.of(logFile);
            return this;
        }

        /** Creates the bucket at the start if it does not exist. */
        public Builder bucket(String bucket)
        {
            buckets.add(requireNonNull(bucket, "bucket is null"));
            return this;
        }

        /** Accepts another access key, which may read less than the one of {@link #clientProperties}. */
        public Builder reader(S3Reader reader)
        {
            readers.add(requireNonNull(reader, "reader is null"));
            return this;
        }

        public Builder faults(S3Faults faults)
        {
            this.faults = requireNonNull(faults, "faults is null");
            return this;
        }

        /**
         * Returns when the server answers and the buckets exist.
         *
         * @throws IllegalStateException if it cannot start, for instance because the port is in use
         */
        public S3Server start()
        {
            S3PROXY_LOGGER.setLevel(Level.WARNING);

            Properties properties = new Properties();
            directory.ifPresent(path -> properties.setProperty("jclouds.filesystem.basedir", createDirectories(path).toString()));
            BlobStore objects = new CompleteObjects(BlobStores.create(directory.isPresent() ? "filesystem" : "transient", properties));
            S3Proxy proxy = S3Proxy.builder()
                    .endpoint(URI.create("http://%s:%s".formatted(address, port)))
                    .blobStore(objects)
                    .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, ACCESS_KEY, SECRET_KEY)
                    // without it a listing by the AWS SDK is answered with 501
                    .ignoreUnknownHeaders(true)
                    // a held or slow response keeps its thread
                    .jettyMaxThreads(400)
                    .stopTimeout(0)
                    .build();
            if (!readers.isEmpty()) {
                Map<String, String> secretKeys = new HashMap<>();
                secretKeys.put(ACCESS_KEY, SECRET_KEY);
                readers.forEach(reader -> secretKeys.put(reader.accessKey(), reader.secretKey()));
                proxy.setBlobStoreLocator((accessKey, _, _) -> Optional.ofNullable(secretKeys.get(accessKey)).map(secretKey -> new AccessGrant(secretKey, objects)).orElse(null));
            }
            WritableS3RequestLog log = logFile.map(S3RequestLogFile::openForAppend).orElseGet(InMemoryS3RequestLog::new);
            RecordingHandler handler = new RecordingHandler(log, faults, readers);
            Server server = httpServer(proxy);
            handler.setHandler(server.getHandler());
            server.setHandler(handler);
            try {
                proxy.start();
            }
            catch (Exception e) {
                log.close();
                boolean inUse = getCausalChain(e).stream().anyMatch(BindException.class::isInstance);
                throw new IllegalStateException(inUse ? "S3 server cannot listen on %s:%s: %s".formatted(address, port, e.getMessage()) : "S3 server did not start", e);
            }
            URI endpoint = URI.create("http://%s:%s".formatted(address, proxy.getPort()));
            S3Server s3 = new S3Server(proxy, handler, log, endpoint, directory.map(ObjectDirectory::new));
            try {
                s3.createMissingBuckets(buckets);
            }
            catch (RuntimeException e) {
                s3.close();
                throw e;
            }
            return s3;
        }

        private static Path createDirectories(Path path)
        {
            try {
                return Files.createDirectories(path).toRealPath();
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /**
         * S3Proxy keeps its Jetty server in a private field and offers neither a request log nor a place for a handler. Everything else would be worse: a proxy in front would
         * log its own traffic instead of the server's, a blob store around the real one sees no HTTP (no status, no user agent, no conditional request that was refused),
         * and a server of our own would have to repeat S3Proxy's translation of exceptions into S3's errors.
         */
        private static Server httpServer(S3Proxy proxy)
        {
            try {
                Field field = S3Proxy.class.getDeclaredField("server");
                field.setAccessible(true);
                return (Server) field.get(proxy);
            }
            catch (ReflectiveOperationException e) {
                throw new IllegalStateException("this S3Proxy keeps its HTTP server elsewhere", e);
            }
        }
    }

    private void createMissingBuckets(List<String> buckets)
    {
        if (buckets.isEmpty()) {
            return;
        }
        try (S3Client client = client()) {
            Set<String> existing = new HashSet<>(client.listBuckets().buckets().stream().map(Bucket::name).toList());
            for (String bucket : buckets) {
                if (existing.add(bucket)) {
                    client.createBucket(request -> request.bucket(bucket));
                }
            }
        }
    }
}
