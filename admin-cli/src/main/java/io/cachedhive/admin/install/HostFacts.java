package io.cachedhive.admin.install;

import io.cachedhive.admin.settings.HostFile;
import io.cachedhive.admin.ssh.RemoteResult;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * What {@code facts.sh} said of a host.
 */
public final class HostFacts
{
    private static final Pattern HEAP = Pattern.compile("([0-9]+)([kKmMgGtT]?)");

    // scripts tell digests
    private static final String NO_SECRET = HostFile.sha256("");

    private final Map<String, String> facts;
    private final RemoteResult result;
    private final long skewMillis;

    /// @param sentMillis when the script was sent, by the clock of this machine
    /// @param receivedMillis when all of it had come back
    public HostFacts(RemoteResult result, long sentMillis, long receivedMillis)
    {
        this.result = requireNonNull(result, "result is null");
        this.facts = result.facts();
        long remote = number("time_millis").orElse(sentMillis);
        // what can be explained by the time that the way took is no skew
        this.skewMillis = remote < sentMillis ? remote - sentMillis : Math.max(0, remote - receivedMillis);
    }

    public Optional<String> text(String name)
    {
        return Optional.ofNullable(facts.get(name)).filter(value -> !value.isBlank());
    }

    public OptionalLong number(String name)
    {
        try {
            return text(name).map(Long::parseLong).map(OptionalLong::of).orElse(OptionalLong.empty());
        }
        catch (NumberFormatException _) {
            return OptionalLong.empty();
        }
    }

    public boolean is(String name)
    {
        return "yes".equals(facts.get(name));
    }

    public List<String> list(String name)
    {
        return result.values(name);
    }

    /// Whether its cache worker or one of its catalogs has a shared secret.
    public boolean hasSecret()
    {
        return facts.entrySet().stream()
                .filter(fact -> fact.getKey().equals("worker.secret") || (fact.getKey().startsWith("catalog.") && fact.getKey().endsWith(".secret")))
                .anyMatch(fact -> !fact.getValue().isBlank() && !fact.getValue().equals(NO_SECRET));
    }

    /// How far the host's clock is ahead of this machine's, negative if behind; what the way took is not counted.
    public long skewMillis()
    {
        return skewMillis;
    }

    /// Trino's largest heap; empty where no Trino is, or it does not say.
    public OptionalLong trinoHeapBytes()
    {
        Optional<String> heap = text("trino.heap");
        if (heap.isPresent()) {
            Matcher matcher = HEAP.matcher(heap.get().strip());
            if (matcher.matches()) {
                int shift = switch (matcher.group(2).toLowerCase(Locale.ROOT)) {
                    case "k" -> 10;
                    case "m" -> 20;
                    case "g" -> 30;
                    case "t" -> 40;
                    default -> 0;
                };
                return OptionalLong.of(Long.parseLong(matcher.group(1)) << shift);
            }
        }
        Optional<String> percent = text("trino.heap_percent");
        if (percent.isPresent() && number("memory_bytes").isPresent()) {
            try {
                return OptionalLong.of((long) (number("memory_bytes").getAsLong() * Double.parseDouble(percent.get()) / 100));
            }
            catch (NumberFormatException _) {
                return OptionalLong.empty();
            }
        }
        return OptionalLong.empty();
    }
}
