package io.cachedhive.testing.cluster.sql;

import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.List;

/**
 * Values as people read them.
 */
final class CellText
{
    private static final HexFormat HEX = HexFormat.of();

    private CellText() {}

    /// One line of text, or several; other control characters are escaped, so that data cannot steer a terminal.
    static List<String> lines(Object value)
    {
        return text(value).lines()
                .map(CellText::escapeControls)
                .toList();
    }

    static String text(Object value)
    {
        return switch (value) {
            case null -> "NULL";
            case byte[] bytes -> HEX.formatHex(bytes);
            case BigDecimal decimal -> decimal.toPlainString();
            default -> value.toString();
        };
    }

    static int width(String line)
    {
        return line.codePointCount(0, line.length());
    }

    static String pad(String line, int width, boolean right)
    {
        String spaces = " ".repeat(Math.max(0, width - width(line)));
        return right ? spaces + line : line + spaces;
    }

    private static String escapeControls(String line)
    {
        if (line.chars().noneMatch(Character::isISOControl)) {
            return line;
        }
        StringBuilder escaped = new StringBuilder();
        line.chars().forEach(character -> {
            if (Character.isISOControl(character)) {
                escaped.append("\\x%02x".formatted(character));
            }
            else {
                escaped.append((char) character);
            }
        });
        return escaped.toString();
    }
}
