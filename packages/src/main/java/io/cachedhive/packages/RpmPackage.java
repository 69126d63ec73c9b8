package io.cachedhive.packages;

import io.cachedhive.packages.PackageEntry.Directory;
import io.cachedhive.packages.PackageEntry.File;
import io.cachedhive.packages.PackageEntry.Link;
import org.eclipse.packager.rpm.FileFlags;
import org.eclipse.packager.rpm.RpmTag;
import org.eclipse.packager.rpm.RpmTagValue;
import org.eclipse.packager.rpm.RpmVersion;
import org.eclipse.packager.rpm.build.BuilderContext;
import org.eclipse.packager.rpm.build.BuilderOptions;
import org.eclipse.packager.rpm.build.DigestAlgorithm;
import org.eclipse.packager.rpm.build.FileInformation;
import org.eclipse.packager.rpm.build.RpmBuilder;
import org.eclipse.packager.rpm.build.RpmBuilder.PackageInformation;
import org.eclipse.packager.rpm.coding.PayloadCoding;
import org.eclipse.packager.rpm.header.Header;
import org.eclipse.packager.rpm.signature.SignatureProcessors;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;
import static java.util.Comparator.nullsFirst;

/**
 * Writes packages as rpm takes them.
 */
final class RpmPackage
{
    private static final String RELEASE = "1";
    private static final String ARCHITECTURE = "noarch";

    private final Instant timestamp;

    RpmPackage(Instant timestamp)
    {
        this.timestamp = timestamp;
    }

    static String fileName(SystemPackage content)
    {
        return "%s-%s-%s.%s.rpm".formatted(content.name(), content.systemVersion(), RELEASE, ARCHITECTURE);
    }

    void write(Path target, SystemPackage content)
            throws IOException
    {
        BuilderOptions options = new BuilderOptions();
        options.setOpenOptions(new OpenOption[] {CREATE, TRUNCATE_EXISTING, READ, WRITE});
        options.setFileDigestAlgorithm(DigestAlgorithm.SHA256);
        options.setPayloadCoding(PayloadCoding.GZIP);
        options.setPayloadFlags(Integer.toString(Archives.COMPRESSION_LEVEL));
        try (RpmBuilder builder = new RpmBuilder(content.name(), new RpmVersion(content.systemVersion(), RELEASE), ARCHITECTURE, target, options)) {
            describe(builder.getInformation(), content);
            builder.setHeaderCustomizer(this::makeReproducible);
            builder.removeAllSignatureProcessors();
            builder.addSignatureProcessor(SignatureProcessors.size());
            builder.addSignatureProcessor(SignatureProcessors.sha256Header());
            builder.addSignatureProcessor(SignatureProcessors.sha1Header());
            builder.addSignatureProcessor(SignatureProcessors.md5());
            builder.addSignatureProcessor(SignatureProcessors.payloadSize());
            content.rpmDependencies().forEach(name -> builder.addRequirement(name, ""));
            content.script("rpm", "pre").ifPresent(builder::setPreInstallationScript);
            content.script("rpm", "post").ifPresent(builder::setPostInstallationScript);
            content.script("rpm", "preun").ifPresent(builder::setPreRemoveScript);
            content.script("rpm", "postun").ifPresent(builder::setPostRemoveScript);

            BuilderContext context = builder.newContext();
            for (Map.Entry<String, PackageEntry> at : content.tree().entries().entrySet()) {
                add(context, "/" + at.getKey(), at.getValue(), content);
            }
            builder.build();
        }
    }

    /**
     * Takes out of the header what differs from one build to the next: its time, and the order of requirements of one name, which comes from hashes of enums.
     */
    private void makeReproducible(Header<RpmTag> header)
    {
        header.putInt(RpmTag.BUILDTIME, Math.toIntExact(timestamp.getEpochSecond()));

        record Requirement(String name, String version, int flags) {}

        String[] names = (String[]) value(header, RpmTag.REQUIRE_NAME);
        String[] versions = (String[]) value(header, RpmTag.REQUIRE_VERSION);
        int[] flags = (int[]) value(header, RpmTag.REQUIRE_FLAGS);
        List<Requirement> requirements = IntStream.range(0, names.length)
                .mapToObj(i -> new Requirement(names[i], versions[i], flags[i]))
                .sorted(comparing(Requirement::name).thenComparing(Requirement::version, nullsFirst(naturalOrder())).thenComparingInt(Requirement::flags))
                .toList();
        header.putStringArray(RpmTag.REQUIRE_NAME, requirements.stream().map(Requirement::name).toArray(String[]::new));
        header.putStringArray(RpmTag.REQUIRE_VERSION, requirements.stream().map(Requirement::version).toArray(String[]::new));
        header.putInt(RpmTag.REQUIRE_FLAGS, requirements.stream().mapToInt(Requirement::flags).toArray());
    }

    private static Object value(Header<RpmTag> header, RpmTag tag)
    {
        return ((RpmTagValue) header.get(tag)).getValue();
    }

    private static void describe(PackageInformation information, SystemPackage content)
    {
        information.setSummary(content.summary());
        information.setDescription(String.join("\n\n", content.description()));
        information.setLicense(SystemPackage.LICENSE);
        information.setPackager(SystemPackage.MAINTAINER);
        information.setVendor("cachedhive");
        information.setGroup("Applications/Databases");
        information.setBuildHost("localhost");
        information.setSourcePackage("%s-%s-%s.src.rpm".formatted(content.name(), content.systemVersion(), RELEASE));
    }

    private void add(BuilderContext context, String path, PackageEntry entry, SystemPackage content)
            throws IOException
    {
        FileInformation information = new FileInformation();
        information.setTimestamp(timestamp);
        information.setUser(entry.access().user());
        information.setGroup(entry.access().group());
        information.setMode((short) entry.mode());
        switch (entry) {
            case Directory directory -> {
                // directories of the system belong to the packages that make it
                if (!directory.access().equals(PackageEntry.Access.ROOT) || isOwn(path, content)) {
                    context.addDirectory(path, (_, _, _) -> information);
                }
            }
            case Link link -> context.addSymbolicLink(path, link.target(), (_, _, _) -> information);
            case File file -> {
                if (file.configuration()) {
                    information.setFileFlags(EnumSet.of(FileFlags.CONFIGURATION, FileFlags.NOREPLACE));
                }
                try (InputStream input = file.content().open()) {
                    context.addFile(path, input, (_, _, _) -> information);
                }
            }
        }
    }

    private static boolean isOwn(String path, SystemPackage content)
    {
        return path.contains("/cachedhive") || path.contains("/" + content.name());
    }
}
