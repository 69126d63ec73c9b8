package io.cachedhive.admin.ssh;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * What a script said on its host: a fact per line, as {@code name=value}.
 */
public record RemoteResult(String output)
{
    public RemoteResult
    {
        requireNonNull(output, "output is null");
    }

    /// By name; of equal names the last.
    public Map<String, String> facts()
    {
        Map<String, String> facts = new LinkedHashMap<>();
        for (String line : output.lines().toList()) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                facts.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return facts;
    }

    /// All values of one name, in their order.
    public List<String> values(String name)
    {
        List<String> values = new ArrayList<>();
        for (String line : output.lines().toList()) {
            if (line.startsWith(name + "=")) {
                values.add(line.substring(name.length() + 1));
            }
        }
        return values;
    }
}
