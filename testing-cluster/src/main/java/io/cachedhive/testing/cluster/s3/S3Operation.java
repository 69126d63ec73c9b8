package io.cachedhive.testing.cluster.s3;

import java.util.List;
import java.util.Optional;

/**
 * What an HTTP request asks of the S3 server, told by its method, path and query alone: whether it succeeded is its status.
 */
public enum S3Operation
{
    GET_OBJECT,
    HEAD_OBJECT,
    LIST_OBJECTS,
    PUT_OBJECT,
    COPY_OBJECT,
    DELETE_OBJECT,
    DELETE_OBJECTS,
    CREATE_MULTIPART_UPLOAD,
    UPLOAD_PART,
    COMPLETE_MULTIPART_UPLOAD,
    ABORT_MULTIPART_UPLOAD,
    HEAD_BUCKET,
    CREATE_BUCKET,
    DELETE_BUCKET,
    LIST_BUCKETS,
    OTHER;

    private static final List<String> LISTING_PARAMETERS = List.of("list-type", "prefix", "delimiter", "max-keys", "marker");

    static S3Operation of(String method, Optional<String> bucket, Optional<String> key, String query, boolean copySource)
    {
        if (bucket.isEmpty()) {
            return method.equals("GET") ? LIST_BUCKETS : OTHER;
        }
        boolean upload = hasParameter(query, "uploadId");
        if (key.isEmpty()) {
            return switch (method) {
                case "GET" -> isListing(query) ? LIST_OBJECTS : OTHER;
                case "HEAD" -> HEAD_BUCKET;
                case "PUT" -> query.isEmpty() ? CREATE_BUCKET : OTHER;
                case "DELETE" -> query.isEmpty() ? DELETE_BUCKET : OTHER;
                case "POST" -> hasParameter(query, "delete") ? DELETE_OBJECTS : OTHER;
                default -> OTHER;
            };
        }
        return switch (method) {
            // ?acl, ?tagging and ?uploadId=… read something about the object, not the object
            case "GET" -> upload || hasParameter(query, "acl") || hasParameter(query, "tagging") || hasParameter(query, "attributes") ? OTHER : GET_OBJECT;
            case "HEAD" -> HEAD_OBJECT;
            case "PUT" -> upload ? UPLOAD_PART : copySource ? COPY_OBJECT : hasParameter(query, "acl") || hasParameter(query, "tagging") ? OTHER : PUT_OBJECT;
            case "DELETE" -> upload ? ABORT_MULTIPART_UPLOAD : DELETE_OBJECT;
            case "POST" -> upload ? COMPLETE_MULTIPART_UPLOAD : hasParameter(query, "uploads") ? CREATE_MULTIPART_UPLOAD : OTHER;
            default -> OTHER;
        };
    }

    private static boolean isListing(String query)
    {
        return query.isEmpty() || LISTING_PARAMETERS.stream().anyMatch(name -> hasParameter(query, name));
    }

    private static boolean hasParameter(String query, String name)
    {
        for (String parameter : query.split("&")) {
            if (parameter.equals(name) || parameter.startsWith(name + "=")) {
                return true;
            }
        }
        return false;
    }
}
