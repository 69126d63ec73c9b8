package io.cachedhive.testing.cluster.s3;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("slow")
class TestFilesystemS3Server
        extends AbstractTestS3Service
{
    @TempDir
    static Path directory;

    @Override
    protected S3Service start()
    {
        return S3Server.builder().directory(directory.resolve("objects")).logFile(directory.resolve("requests.log")).bucket(BUCKET).start();
    }

    @Test
    void testEqualTimesOfDifferentObjects(@TempDir Path path)
    {
        Instant time = Instant.parse("2026-01-02T03:04:05Z");
        Set<String> etags = new HashSet<>();
        for (String name : List.of("one", "two")) {
            try (S3Server s3 = S3Server.builder().directory(path.resolve(name)).bucket(BUCKET).start(); S3Client client = s3.client()) {
                client.putObject(request -> request.bucket(BUCKET).key("a/data"), RequestBody.fromString(name));
                s3.setLastModified(BUCKET, "a/data", time);
                HeadObjectResponse head = client.headObject(request -> request.bucket(BUCKET).key("a/data"));
                assertThat(head.lastModified()).isEqualTo(time);
                assertThat(head.contentLength()).isEqualTo(3);
                assertThat(client.listObjectsV2(request -> request.bucket(BUCKET)).contents()).singleElement()
                        .satisfies(object -> assertThat(object.lastModified()).isEqualTo(time));
                assertThat(client.getObjectAsBytes(request -> request.bucket(BUCKET).key("a/data").ifMatch(head.eTag())).asUtf8String()).isEqualTo(name);
                etags.add(head.eTag());
                assertThatThrownBy(() -> s3.setLastModified(BUCKET, "b", time)).hasMessage("no such object: lake/b");
            }
        }
        assertThat(etags).hasSize(2);
    }

    @Test
    void testObjectsThatAreBeingWrittenAreNotListed(@TempDir Path path)
    {
        try (S3Server s3 = S3Server.builder().directory(path.resolve("objects")).bucket(BUCKET).start(); S3Client client = s3.client()) {
            // S3Proxy writes an object to such a name first
            for (String key : List.of("a/data", "a/data-70179be9-55a2-4dc9-8840-234173bb7c2f", "b/20260101_120000_00005_abcde_70179be9-55a2-4dc9-8840-234173bb7c2f")) {
                client.putObject(request -> request.bucket(BUCKET).key(key), RequestBody.fromString("bytes"));
            }
            assertThat(client.listObjectsV2(request -> request.bucket(BUCKET)).contents()).extracting(S3Object::key)
                    .containsExactly("a/data", "b/20260101_120000_00005_abcde_70179be9-55a2-4dc9-8840-234173bb7c2f");
        }
    }

    @Test
    void testObjectsAndLogSurviveRestart(@TempDir Path path)
    {
        S3Server.Builder builder = S3Server.builder().directory(path.resolve("objects")).logFile(path.resolve("requests.log")).bucket(BUCKET);
        HeadObjectResponse before;
        long mark;
        try (S3Server s3 = builder.start(); S3Client client = s3.client()) {
            client.putObject(request -> request.bucket(BUCKET).key("a/data"), RequestBody.fromString("kept"));
            before = client.headObject(request -> request.bucket(BUCKET).key("a/data"));
            mark = s3.log().mark();
        }
        try (S3Server s3 = builder.start(); S3Client client = s3.client()) {
            HeadObjectResponse after = client.headObject(request -> request.bucket(BUCKET).key("a/data"));
            assertThat(after.eTag()).isEqualTo(before.eTag());
            assertThat(after.lastModified()).isEqualTo(before.lastModified());
            assertThat(client.getObjectAsBytes(request -> request.bucket(BUCKET).key("a/data")).asUtf8String()).isEqualTo("kept");
            // the bucket that existed was only looked for
            assertThat(s3.log().since(mark)).extracting(S3Request::operation)
                    .containsExactly(S3Operation.LIST_BUCKETS, S3Operation.HEAD_OBJECT, S3Operation.GET_OBJECT);
        }
    }
}
