package io.cachedhive.packages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Makes everything in {@code packages/target}; called by the build, after the other modules.
 */
public final class BuildPackages
{
    private BuildPackages() {}

    /**
     * @param args root of the repository, directory for the packages, version of the release, version of Trino, time of all files (ISO 8601)
     */
    public static void main(String[] args)
            throws IOException
    {
        if (args.length != 5) {
            throw new IllegalArgumentException("usage: BuildPackages ROOT TARGET VERSION TRINO_VERSION TIMESTAMP");
        }
        build(Path.of(args[0]).toRealPath(), Path.of(args[1]), args[2], args[3], Instant.parse(args[4]));
    }

    static void build(Path root, Path target, String version, String trinoVersion, Instant timestamp)
            throws IOException
    {
        Archives archives = new Archives(timestamp);
        ReleaseContents contents = new ReleaseContents(root, version, trinoVersion);
        Files.createDirectories(target);

        PackageTree bundle = contents.bundle();
        bundle.addText("SHA256SUMS", Checksums.list("SHA-256", bundle));

        Map<Path, PackageWriter> packages = new LinkedHashMap<>();
        // the large ones first: the small ones fill what time is left
        packages.put(target.resolve(contents.name() + ".tar.gz"), file -> archives.writeTarGz(file, contents.name() + "/", bundle));
        packages.put(target.resolve("cachedhive-plugin-%s.tar.gz".formatted(version)), file -> archives.writeTarGz(file, "cachedhive/", contents.plugin()));
        for (SystemPackage systemPackage : contents.systemPackages()) {
            packages.put(target.resolve(DebianPackage.fileName(systemPackage)), file -> new DebianPackage(archives).write(file, systemPackage));
            packages.put(target.resolve(RpmPackage.fileName(systemPackage)), file -> new RpmPackage(timestamp).write(file, systemPackage));
        }
        String worker = "cachedhive-worker-" + version;
        packages.put(target.resolve(worker + ".tar.gz"), file -> archives.writeTarGz(file, worker + "/", contents.worker()));
        String admin = "cachedhive-admin-" + version;
        packages.put(target.resolve(admin + ".tar.gz"), file -> archives.writeTarGz(file, admin + "/", contents.tool()));
        packages.put(target.resolve(BillOfMaterials.FILE_NAME), file -> Files.writeString(file, contents.billOfMaterials()));
        writeAll(packages);

        Files.writeString(target.resolve("SHA256SUMS"), Checksums.list("SHA-256", files(packages.keySet())));
        // where tools look for the list of a whole build
        Path aggregate = Files.createDirectories(root.resolve("target")).resolve(BillOfMaterials.FILE_NAME);
        Files.writeString(aggregate, contents.billOfMaterials());
    }

    private static PackageTree files(Collection<Path> files)
    {
        PackageTree tree = new PackageTree();
        files.forEach(file -> tree.addFile(file.getFileName().toString(), file, PackageTree.FILE_MODE));
        return tree;
    }

    private interface PackageWriter
    {
        void write(Path file)
                throws IOException;
    }

    private static void writeAll(Map<Path, PackageWriter> packages)
            throws IOException
    {
        try (ExecutorService executor = Executors.newFixedThreadPool(Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4))) {
            Map<Path, Future<?>> writes = new LinkedHashMap<>();
            packages.forEach((file, writer) -> writes.put(file, executor.submit(() -> {
                writer.write(file);
                return file;
            })));
            for (Map.Entry<Path, Future<?>> write : writes.entrySet()) {
                try {
                    write.getValue().get();
                }
                catch (ExecutionException e) {
                    throw new IOException("%s cannot be made: %s".formatted(write.getKey(), e.getCause()), e.getCause());
                }
                catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted", e);
                }
            }
        }
    }
}
