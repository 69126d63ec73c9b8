package io.cachedhive.admin;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.settings.CatalogMigration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Makes a catalog of cachedhive out of one with another cache.
 */
@Command(
        name = "migrate",
        sortOptions = false,
        description = {
                "Converts a Hive catalog with fs.cache.* or hive.cache.* properties to a cachedhive catalog and an origin for the cache workers.",
                "Prints what belongs into the hosts file, and what could not be carried over. The given file stays as it is."})
final class ConfigMigrateCommand
        implements Callable<Integer>
{
    @Parameters(paramLabel = "CATALOG", description = "the catalog's file, such as etc/catalog/lake.properties")
    private Path file;

    @Option(names = "--to", required = true, paramLabel = "DIRECTORY", description = "the configuration directory: gets catalog/NAME.properties and origins/default.properties")
    private Path target;

    @Option(names = "--origin", paramLabel = "NAME", defaultValue = "default", description = "name of the origin (default: ${DEFAULT-VALUE})")
    private String origin;

    @Mixin
    private DryRunOption dryRun;

    private final Console console;

    ConfigMigrateCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        if (!origin.matches("[A-Za-z0-9_-]+")) {
            throw new WrongUsageException("--origin is %s: use letters, digits, - and _ only.".formatted(origin));
        }
        CatalogMigration migration;
        try {
            migration = CatalogMigration.of(Files.readString(file));
        }
        catch (IOException e) {
            throw new ClusterFileException("The catalog %s cannot be read (%s): name a file that you may read.".formatted(file, e.getClass().getSimpleName()));
        }
        catch (IllegalArgumentException e) {
            throw new ClusterFileException("%s: %s: name one of those.".formatted(file, e.getMessage()));
        }
        String catalog = origin.equals("default") ? migration.catalog() : migration.catalog() + "cachedhive.origin=" + origin + "\n";
        write(target.resolve("catalog").resolve(file.getFileName()), catalog);
        if (!migration.origin().isEmpty()) {
            write(target.resolve("origins").resolve(origin + ".properties"), migration.origin());
        }
        if (!migration.hostSettings().isEmpty()) {
            console.out().println("# for the hosts file");
            migration.hostSettings().forEach(console.out()::println);
        }
        console.out().flush();
        migration.notes().forEach(console::line);
        return ExitCode.OK;
    }

    private void write(Path path, String content)
            throws ClusterFileException
    {
        try {
            if (Files.exists(path)) {
                if (Files.readString(path).equals(content)) {
                    return;
                }
                throw new ClusterFileException("%s exists and has something else in it: move it away, or choose another directory with --to.".formatted(path));
            }
            console.line((dryRun.isSet() ? "would write " : "wrote ") + path);
            if (!dryRun.isSet()) {
                Files.createDirectories(path.getParent());
                // there may be keys in it
                Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                Files.writeString(path, content);
            }
        }
        catch (IOException e) {
            throw new ClusterFileException("%s cannot be written (%s): choose another directory with --to.".formatted(path, e.getClass().getSimpleName()));
        }
    }
}
