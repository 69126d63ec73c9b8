package io.cachedhive.admin.sql;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * A user of Trino, and what proves it: nothing, a password, or an access token.
 *
 * @param accessToken a JSON web token
 */
public record TrinoLogin(String user, Optional<String> password, Optional<String> accessToken)
{
    /// As for the Trino CLI.
    public static final String PASSWORD_VARIABLE = "TRINO_PASSWORD";
    public static final String ACCESS_TOKEN_VARIABLE = "TRINO_ACCESS_TOKEN";

    public TrinoLogin
    {
        requireNonNull(user, "user is null");
        requireNonNull(password, "password is null");
        requireNonNull(accessToken, "accessToken is null");
    }

    /// Reads the credentials. A file takes precedence over the variable of the environment, and a token over a password.
    ///
    /// @throws IOException if a file cannot be read or is empty
    public static TrinoLogin read(String user, Optional<Path> passwordFile, Optional<Path> accessTokenFile)
            throws IOException
    {
        Optional<String> accessToken = read(accessTokenFile, ACCESS_TOKEN_VARIABLE);
        return new TrinoLogin(user, accessToken.isPresent() ? Optional.empty() : read(passwordFile, PASSWORD_VARIABLE), accessToken);
    }

    private static Optional<String> read(Optional<Path> file, String variable)
            throws IOException
    {
        if (file.isEmpty()) {
            return Optional.ofNullable(System.getenv(variable)).filter(value -> !value.isBlank());
        }
        // editors end a file with a line feed
        String text = Files.readString(file.get()).strip();
        if (text.isEmpty()) {
            throw new IOException(file.get() + " is empty");
        }
        return Optional.of(text);
    }

    boolean hasCredentials()
    {
        return password.isPresent() || accessToken.isPresent();
    }

    HttpRequest.Builder addTo(HttpRequest.Builder request)
    {
        request.header("X-Trino-User", user);
        accessToken.ifPresent(token -> request.header("Authorization", "Bearer " + token));
        password.ifPresent(value -> request.header(
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString((user + ":" + value).getBytes(UTF_8))));
        return request;
    }

    @Override
    public String toString()
    {
        // without the credentials
        return "TrinoLogin{user=%s}".formatted(user);
    }
}
