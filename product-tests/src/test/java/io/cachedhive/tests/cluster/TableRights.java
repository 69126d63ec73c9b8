package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.Cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Who may do what in a test's catalog: the user {@code test} everything, {@code guest} little, and {@code stranger} may not even call procedures.
 */
final class TableRights
{
    private TableRights() {}

    /**
     * Guests may select from no table of the schema, but for these.
     */
    static Cluster.Builder guard(Cluster.Builder builder, String schema, String... readable)
    {
        String rights =
                """
                {
                  "schemas": [{"user": "test", "owner": true}, {"owner": false}],
                  "tables": [
                    {"user": "test", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]},
                    %s
                    {"schema": "%s", "privileges": []},
                    {"privileges": ["SELECT"]}
                  ],
                  "procedures": [
                    {"user": "stranger", "privileges": []},
                    {"schema": "system", "privileges": ["EXECUTE"]}
                  ]
                }
                """.formatted(
                        List.of(readable).stream()
                                .map(table -> "{\"schema\": \"%s\", \"table\": \"%s\", \"privileges\": [\"SELECT\"]},".formatted(schema, table))
                                .collect(Collectors.joining()),
                        schema);
        try {
            Path file = Files.writeString(Path.of("target", schema + "-rights.json").toAbsolutePath(), rights);
            return builder
                    .cachedHiveProperty("hive.security", "file")
                    .cachedHiveProperty("security.config-file", file.toString());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
