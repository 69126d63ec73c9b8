package io.cachedhive.admin.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.admin.task.TaskException;
import io.cachedhive.admin.tls.TlsFailure;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

import static java.net.http.HttpClient.Redirect.NEVER;
import static java.util.Objects.requireNonNull;

/**
 * Runs statements on a Trino coordinator by its HTTP protocol.
 */
public final class TrinoClient
        implements AutoCloseable
{
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final URI server;
    private final TrinoLogin login;
    private final HttpClient client;

    /// @param tls of a coordinator that is reached by HTTPS
    /// @throws TaskException if the login would be sent in clear text
    /// @throws IllegalArgumentException if the URL is invalid
    public TrinoClient(String url, TrinoLogin login, SSLContext tls)
            throws TaskException
    {
        this.server = URI.create(url.endsWith("/") ? url.substring(0, url.length() - 1) : url);
        // refuses what is not a URL of HTTP
        HttpRequest.newBuilder(server);
        this.login = requireNonNull(login, "login is null");
        if (login.hasCredentials() && !"https".equals(server.getScheme())) {
            throw new TaskException("%s is not HTTPS, and the password or access token would be sent in clear text: set trino-url to the HTTPS address.".formatted(url));
        }
        this.client = HttpClient.newBuilder().connectTimeout(TIMEOUT).sslContext(tls).followRedirects(NEVER).build();
    }

    /// Runs a statement to its end; its rows, if it has any, are read and dropped.
    ///
    /// @return the query's id
    /// @throws TaskException if it fails; the message is Trino's with a remedy
    public String execute(String sql)
            throws TaskException
    {
        return run(sql, _ -> {});
    }

    /// Runs a query to its end.
    ///
    /// @return its rows, by column
    /// @throws TaskException if it fails; the message is Trino's with a remedy
    public List<Map<String, JsonNode>> query(String sql)
            throws TaskException
    {
        List<Map<String, JsonNode>> rows = new ArrayList<>();
        run(sql, answer -> {
            for (JsonNode values : answer.path("data")) {
                Map<String, JsonNode> row = new LinkedHashMap<>();
                int field = 0;
                for (JsonNode column : answer.path("columns")) {
                    row.put(column.path("name").asText(), values.path(field));
                    field++;
                }
                rows.add(row);
            }
        });
        return rows;
    }

    private String run(String sql, Consumer<JsonNode> answers)
            throws TaskException
    {
        JsonNode answer = send(HttpRequest.newBuilder(server.resolve("/v1/statement")).POST(BodyPublishers.ofString(sql)));
        String id = answer.path("id").asText();
        while (true) {
            if (answer.has("error")) {
                throw new TaskException("Trino returned an error: %s (query %s): correct it and run the command again."
                        .formatted(answer.get("error").path("message").asText().strip(), id));
            }
            answers.accept(answer);
            if (!answer.hasNonNull("nextUri")) {
                return id;
            }
            URI next = URI.create(answer.get("nextUri").asText());
            if (!Objects.equals(next.getScheme(), server.getScheme())) {
                throw new TaskException(("%s refers to %s, which is not of the same scheme: "
                        + "set http-server.process-forwarded=true in Trino's etc/config.properties if a proxy is between.").formatted(server, next));
            }
            answer = send(HttpRequest.newBuilder(next).GET());
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
                    login.addTo(request).header("X-Trino-Source", "cache-admin").timeout(TIMEOUT).build(),
                    BodyHandlers.ofString());
            if (response.statusCode() == 401 || response.statusCode() == 403) {
                if (login.hasCredentials()) {
                    throw new TaskException("%s refuses the login of %s (HTTP %s): correct trino-user and the file of its password or access token."
                            .formatted(server, login.user(), response.statusCode()));
                }
                throw new TaskException("%s requires authentication (HTTP %s): set trino-password-file or trino-access-token-file in the hosts file."
                        .formatted(server, response.statusCode()));
            }
            if (response.statusCode() != 200) {
                throw new TaskException("%s does not answer as a Trino coordinator (HTTP %s): correct trino-url in the hosts file.".formatted(server, response.statusCode()));
            }
            return JSON.readTree(response.body());
        }
        catch (JsonProcessingException _) {
            throw new TaskException("%s does not answer as a Trino coordinator: correct trino-url in the hosts file.".formatted(server));
        }
        catch (SSLException e) {
            throw new TaskException("%s cannot be reached by HTTPS (%s): correct tls in the hosts file.".formatted(server, TlsFailure.describe(e)));
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
