package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Content;
import io.cachedhive.packages.PackageEntry.File;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * Digests of files, as the programs sha256sum(1) and md5sum(1) write and check them.
 */
final class Checksums
{
    private Checksums() {}

    /**
     * A line for each file of the tree.
     *
     * @param algorithm as {@link MessageDigest} names it
     */
    static String list(String algorithm, PackageTree tree)
            throws IOException
    {
        StringBuilder list = new StringBuilder();
        for (Map.Entry<String, PackageEntry> entry : tree.entries().entrySet()) {
            if (entry.getValue() instanceof File file) {
                list.append(digest(algorithm, file.content())).append("  ").append(entry.getKey()).append('\n');
            }
        }
        return list.toString();
    }

    static String digest(String algorithm, Content content)
            throws IOException
    {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance(algorithm);
        }
        catch (NoSuchAlgorithmException e) {
            throw new IllegalArgumentException(e);
        }
        byte[] buffer = new byte[1 << 16];
        try (InputStream input = content.open()) {
            for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
                digest.update(buffer, 0, count);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
