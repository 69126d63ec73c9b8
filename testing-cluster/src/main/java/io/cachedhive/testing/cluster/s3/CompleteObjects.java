package io.cachedhive.testing.cluster.s3;

import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Lists objects that are complete, as S3 does. S3Proxy writes an object to a file beside it, whose name ends with a random UUID, and would list that file until it has its
 * real name.
 */
final class CompleteObjects
        extends ForwardingBlobStore
{
    private static final Pattern TEMPORARY_KEY = Pattern.compile(".*-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");

    CompleteObjects(BlobStore store)
    {
        super(store);
    }

    @Override
    public ListObjectsV2Response list(ListObjectsV2Request request)
    {
        ListObjectsV2Response response = super.list(request);
        List<S3Object> complete = response.contents().stream()
                .filter(object -> !TEMPORARY_KEY.matcher(object.key()).matches())
                .toList();
        return complete.size() == response.contents().size() ? response : response.toBuilder().contents(complete).build();
    }
}
