package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Directory;
import io.cachedhive.packages.PackageEntry.File;
import io.cachedhive.packages.PackageEntry.Link;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.zip.Deflater;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.commons.compress.archivers.tar.TarConstants.LF_DIR;
import static org.apache.commons.compress.archivers.tar.TarConstants.LF_NORMAL;
import static org.apache.commons.compress.archivers.tar.TarConstants.LF_SYMLINK;

/**
 * Writes trees as tar.gz, the same bytes for the same tree: in the order of their paths, as root's, with one time for all files.
 */
final class Archives
{
    /**
     * Almost all of it are jars, which are compressed: more effort saves a few percent, and takes several times as long.
     */
    static final int COMPRESSION_LEVEL = Deflater.BEST_SPEED;

    private final Instant timestamp;

    Archives(Instant timestamp)
    {
        this.timestamp = timestamp;
    }

    Instant timestamp()
    {
        return timestamp;
    }

    void writeTarGz(Path target, String prefix, PackageTree tree)
            throws IOException
    {
        try (OutputStream output = new BufferedOutputStream(Files.newOutputStream(target), 1 << 16)) {
            writeTarGz(output, prefix, tree);
        }
    }

    /**
     * @param prefix of all paths, with the slash at its end; such as {@code ./}
     */
    void writeTarGz(OutputStream output, String prefix, PackageTree tree)
            throws IOException
    {
        GzipParameters parameters = new GzipParameters();
        parameters.setCompressionLevel(COMPRESSION_LEVEL);
        // without a time and a name: both are of the tar's parts
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new GzipCompressorOutputStream(output, parameters), UTF_8.name())) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_STAR);
            write(tar, new TarArchiveEntry(prefix, LF_DIR), 0755);
            tar.closeArchiveEntry();
            for (Map.Entry<String, PackageEntry> at : tree.entries().entrySet()) {
                String path = prefix + at.getKey();
                switch (at.getValue()) {
                    case Directory directory -> write(tar, new TarArchiveEntry(path + "/", LF_DIR), directory.mode());
                    case Link link -> {
                        TarArchiveEntry entry = new TarArchiveEntry(path, LF_SYMLINK);
                        entry.setLinkName(link.target());
                        write(tar, entry, link.mode());
                    }
                    case File file -> {
                        TarArchiveEntry entry = new TarArchiveEntry(path, LF_NORMAL);
                        entry.setSize(file.content().size());
                        write(tar, entry, file.mode());
                        try (InputStream content = file.content().open()) {
                            content.transferTo(tar);
                        }
                    }
                }
                tar.closeArchiveEntry();
            }
        }
    }

    private void write(TarArchiveOutputStream tar, TarArchiveEntry entry, int mode)
            throws IOException
    {
        // those of the package's users come from its scripts: numbers differ from host to host
        entry.setIds(0, 0);
        entry.setNames("root", "root");
        entry.setMode(mode);
        entry.setLastModifiedTime(FileTime.from(timestamp));
        tar.putArchiveEntry(entry);
    }
}
