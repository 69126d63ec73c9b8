package io.cachedhive.worker.testing;

import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;

/**
 * An S3 server in this process with one bucket, whose objects are as old as a test wants them.
 */
public final class Lake
        implements AutoCloseable
{
    public static final String BUCKET = "lake";

    private final S3Server s3;
    private final S3Client client;

    private Lake(S3Server s3)
    {
        this.s3 = s3;
        this.client = s3.client();
    }

    public static Lake start(Path directory)
    {
        return new Lake(S3Server.builder().directory(directory).bucket(BUCKET).start());
    }

    /**
     * An object as Trino would list it.
     */
    public record StoredFile(FileVersion file, byte[] bytes)
    {
        public byte[] block(int index)
        {
            return Arrays.copyOfRange(bytes, index * BLOCK_SIZE, Math.min(bytes.length, (index + 1) * BLOCK_SIZE));
        }
    }

    /**
     * An object that nobody can overwrite unseen any more.
     */
    public StoredFile putSettled(String key, int length, long seed)
    {
        return put(key, length, seed, Instant.now().minusSeconds(3600));
    }

    public StoredFile put(String key, int length, long seed, Instant lastModified)
    {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        client.putObject(request -> request.bucket(BUCKET).key(key), RequestBody.fromBytes(bytes));
        s3.setLastModified(BUCKET, key, lastModified);
        return new StoredFile(new FileVersion(originId(), "s3://" + BUCKET + "/" + key, length, lastModified.toEpochMilli()), bytes);
    }

    public OriginId originId()
    {
        return originId(s3.endpoint().toString());
    }

    /**
     * The id of the origin that a worker and its clients compute from the properties of a server at this endpoint.
     */
    public static OriginId originId(String endpoint)
    {
        return OriginId.of("s3", Optional.of(endpoint), Optional.of(S3Server.REGION), IsolationDomain.ofS3(Map.of("s3.aws-access-key", S3Server.ACCESS_KEY)));
    }

    public S3Server s3()
    {
        return s3;
    }

    /**
     * The object past the cache.
     */
    public OriginInput input(StoredFile file)
    {
        String key = file.file().location().substring(("s3://" + BUCKET + "/").length());
        return new OriginInput()
        {
            @Override
            public void readFully(long position, byte[] buffer, int offset, int length)
            {
                String range = "bytes=%s-%s".formatted(position, position + length - 1);
                byte[] bytes = client.getObjectAsBytes(request -> request.bucket(BUCKET).key(key).range(range)).asByteArray();
                System.arraycopy(bytes, 0, buffer, offset, length);
            }

            @Override
            public int readTail(byte[] buffer, int offset, int maxLength)
            {
                byte[] bytes = client.getObjectAsBytes(request -> request.bucket(BUCKET).key(key).range("bytes=-" + maxLength)).asByteArray();
                System.arraycopy(bytes, 0, buffer, offset, bytes.length);
                return bytes.length;
            }

            @Override
            public FileState current()
            {
                HeadObjectResponse head = client.headObject(request -> request.bucket(BUCKET).key(key));
                return new FileState(head.contentLength(), head.lastModified().toEpochMilli());
            }
        };
    }

    public List<S3Request> getsSince(long mark)
    {
        return s3.log().since(mark).stream().filter(S3Request::isGet).toList();
    }

    public long headsSince(long mark)
    {
        return s3.log().since(mark).stream().filter(S3Request::isHead).count();
    }

    @Override
    public void close()
    {
        client.close();
        s3.close();
    }
}
