package io.cachedhive.admin.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.admin.task.TaskException;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import static java.util.Objects.requireNonNull;

/**
 * Runs statements on a Trino coordinator by its HTTP protocol, for a user without a password.
 */
public final class TrinoClient
        implements AutoCloseable
{
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final URI server;
    private final String user;
    private final HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();

    public TrinoClient(String url, String user)
    {
        this.server = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
        this.user = requireNonNull(user, "user is null");
    }

    /// Runs a statement to its end; its rows, if it has any, are read and dropped.
    ///
    /// @return the query's id
    /// @throws TaskException if it fails; the message is Trino's with a remedy
    public String execute(String sql)
            throws TaskException
    {
        JsonNode answer = send(HttpRequest.newBuilder(server.resolve("/v1/statement")).POST(BodyPublishers.ofString(sql)));
        String id = answer.path("id").asText();
        while (true) {
            if (answer.has("error")) {
                throw new TaskException("Trino returned an error: %s (query %s): correct it and run the command again."
                        .formatted(answer.get("error").path("message").asText().strip(), id));
            }
            if (!answer.hasNonNull("nextUri")) {
                return id;
            }
            answer = send(HttpRequest.newBuilder(URI.create(answer.get("nextUri").asText())).GET());
        }
    }

    /// A literal of SQL.
    public static String literal(String text)
    {
        return "'" + text.replace("'", "''") + "'";
    }

    /// A name of SQL.
    public static String identifier(String name)
    {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    private JsonNode send(HttpRequest.Builder request)
            throws TaskException
    {
        try {
            HttpResponse<String> response = client.send(
                    request.header("X-Trino-User", user).header("X-Trino-Source", "cache-admin").timeout(TIMEOUT).build(),
                    BodyHandlers.ofString());
            if (response.statusCode() == 401 || response.statusCode() == 403) {
                throw new TaskException(("%s requires authentication (HTTP %s), which this tool does not support: "
                        + "run the statement with the Trino CLI.").formatted(server, response.statusCode()));
            }
            if (response.statusCode() != 200) {
                throw new TaskException("%s does not answer as a Trino coordinator (HTTP %s): correct trino-url in the hosts file.".formatted(server, response.statusCode()));
            }
            return JSON.readTree(response.body());
        }
        catch (JsonProcessingException _) {
            throw new TaskException("%s does not answer as a Trino coordinator: correct trino-url in the hosts file.".formatted(server));
        }
        catch (IOException e) {
            throw new TaskException("%s cannot be reached (%s): correct trino-url in the hosts file, or start the coordinator.".formatted(server, e));
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new TaskException("Interrupted: what was begun may still run on %s.".formatted(server));
        }
    }

    @Override
    public void close()
    {
        client.shutdownNow();
    }
}
