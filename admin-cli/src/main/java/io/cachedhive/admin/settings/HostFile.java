package io.cachedhive.admin.settings;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import static java.util.Objects.requireNonNull;

/**
 * A file that a host is to have.
 *
 * @param path on the host
 * @param secret whether its lines are secrets, of which nothing may be shown
 */
public record HostFile(String path, Reader reader, String content, boolean secret)
{
    public enum Reader
    {
        CACHE_WORKER,
        TRINO
    }

    public HostFile(String path, Reader reader, String content)
    {
        this(path, reader, content, false);
    }

    public HostFile
    {
        requireNonNull(path, "path is null");
        requireNonNull(reader, "reader is null");
        requireNonNull(content, "content is null");
    }

    public String digest()
    {
        return sha256(content);
    }

    public static String sha256(String text)
    {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        }
        catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
