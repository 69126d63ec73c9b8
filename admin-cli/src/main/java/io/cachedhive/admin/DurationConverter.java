package io.cachedhive.admin;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads durations as the cache worker's configuration writes them.
 */
final class DurationConverter
        implements ITypeConverter<Duration>
{
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}) *(ms|s|m)");

    @Override
    public Duration convert(String text)
    {
        Matcher matcher = DURATION.matcher(text.strip());
        if (!matcher.matches()) {
            throw new TypeConversionException("a duration is a number and ms, s or m, such as 500ms: " + text);
        }
        long amount = Long.parseLong(matcher.group(1));
        Duration duration = switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            default -> Duration.ofMinutes(amount);
        };
        if (duration.isZero()) {
            throw new TypeConversionException("a duration must be above zero: " + text);
        }
        return duration;
    }
}
