package io.cachedhive.admin.ssh;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A script for bash with the values that it is to work with. Hosts get it on the standard input, so that no other user of the host sees its values.
 */
public final class RemoteScript
{
    private final String body;
    private final Map<String, String> variables = new LinkedHashMap<>();
    private final StringBuilder last = new StringBuilder();

    private RemoteScript(String body)
    {
        this.body = body;
    }

    /// Resources beside this class, one behind the other.
    public static RemoteScript of(String... names)
    {
        StringBuilder body = new StringBuilder();
        for (String name : names) {
            try (InputStream resource = requireNonNull(RemoteScript.class.getResourceAsStream(name), name)) {
                body.append(new String(resource.readAllBytes(), UTF_8)).append('\n');
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return new RemoteScript(body.toString());
    }

    /// Writes what follows the script on the standard input to a file, which it creates.
    static RemoteScript receive(String path)
    {
        return new RemoteScript("umask 077\nrm -f -- \"$FILE\"\nset -C\ncat > \"$FILE\" || exit\n").set("FILE", path);
    }

    public RemoteScript set(String name, Object value)
    {
        variables.put(name, "'" + value.toString().replace("'", "'\\''") + "'");
        return this;
    }

    /// An array of bash.
    public RemoteScript list(String name, Collection<String> values)
    {
        variables.put(name, values.stream().map(value -> "'" + value.replace("'", "'\\''") + "'").collect(joining(" ", "(", ")")));
        return this;
    }

    /// A call of one of the script's functions, behind all of them.
    public RemoteScript call(String function, String... arguments)
    {
        last.append(function);
        for (String argument : arguments) {
            last.append(" '").append(argument.replace("'", "'\\''")).append('\'');
        }
        last.append('\n');
        return this;
    }

    public static String base64(String content)
    {
        return Base64.getEncoder().encodeToString(content.getBytes(UTF_8));
    }

    /// The braces make bash read all of it before it runs any: what it starts must not read the rest from the standard input.
    public String text()
    {
        String settings = variables.entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue() + "\n")
                .collect(joining());
        return "{\nset -u\nexport LC_ALL=C\n" + settings + body + last + "exit 0\n}\n";
    }
}
