package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.explain.QueryExplanation;
import io.cachedhive.admin.sql.TrinoClient;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import static java.util.Objects.requireNonNull;

/**
 * Describes what the cache did for a query.
 */
@Command(
        name = "explain",
        sortOptions = false,
        description = {
                "Describes what the cache did for a query: bytes and waiting by source, causes of bypass, and what to do about them.",
                "Reads system.cache.queries, which needs the server extension on the coordinator and has the last 10000 queries."})
final class ExplainCommand
        implements Callable<Integer>
{
    @Parameters(paramLabel = "QUERY_ID", description = "id of the query, as in Trino's web interface")
    private String queryId;

    @Mixin
    private TrinoOptions trino;

    private final Console console;

    ExplainCommand(Console console)
    {
        this.console = requireNonNull(console, "console is null");
    }

    @Override
    public Integer call()
            throws ClusterFileException
    {
        try (TrinoClient client = trino.client(trino.cluster())) {
            List<Map<String, JsonNode>> rows = client.query("SELECT * FROM system.cache.queries WHERE query_id = " + TrinoClient.literal(queryId));
            if (rows.isEmpty()) {
                console.problem("Query %s is not in system.cache.queries: it read no cachedhive catalog, ran before the coordinator started, or you may not view it."
                        .formatted(queryId));
                return ExitCode.HOST_FAILED;
            }
            new QueryExplanation(rows.getFirst()).sentences().forEach(console.out()::println);
            console.out().flush();
            return ExitCode.OK;
        }
        catch (TaskException e) {
            console.problem(e.getMessage().contains("does not exist") ?
                    "The coordinator has no table system.cache.queries: install the server extension with cache-admin install --engine-extension, and restart Trino." :
                    e.getMessage());
            return ExitCode.HOST_FAILED;
        }
    }
}
