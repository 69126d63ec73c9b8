package io.cachedhive.plugin.audit;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * The line of the audit log about one call of a procedure. Whatever the caller passed, it is one line of bounded length: texts are quoted, and characters that would
 * end the line or change how it is displayed are escaped.
 */
public record AuditLine(String user, String queryId, String procedure, Map<String, Object> arguments, Outcome outcome, Optional<String> reason)
{
    private static final int MAX_TEXT_LENGTH = 2000;
    private static final int MAX_ARGUMENTS_LENGTH = 8000;
    // locations of old Hadoop versions may hold a key and its secret
    private static final Pattern PASSWORD = Pattern.compile("(://[^/\\s@:]*:)[^/\\s@]*@");

    public enum Outcome
    {
        SUCCEEDED,
        FAILED,
        /**
         * The user may not call the procedure, or may not read its table.
         */
        DENIED,
    }

    /**
     * @param arguments by name, in the order of the procedure; without those that are null
     * @param reason why the call did not succeed
     */
    public AuditLine
    {
        requireNonNull(user, "user is null");
        requireNonNull(queryId, "queryId is null");
        requireNonNull(procedure, "procedure is null");
        requireNonNull(arguments, "arguments is null");
        requireNonNull(outcome, "outcome is null");
        requireNonNull(reason, "reason is null");
    }

    @Override
    public String toString()
    {
        return "user=%s query=%s procedure=%s arguments=(%s) outcome=%s%s".formatted(
                quote(user),
                escape(queryId),
                escape(procedure),
                argumentList(),
                outcome,
                reason.map(text -> " reason=" + quote(text)).orElse(""));
    }

    /**
     * Returns the reason without passwords, escaped and of bounded length.
     */
    public Optional<String> reasonText()
    {
        return reason.map(text -> escape(cut(withoutPasswords(text), MAX_TEXT_LENGTH)));
    }

    /**
     * Returns the call as a statement.
     */
    public String statement()
    {
        return "CALL %s(%s)".formatted(escape(procedure), argumentList());
    }

    private String argumentList()
    {
        return cut(
                arguments.entrySet().stream()
                        .map(argument -> argument.getKey() + " => " + value(argument.getValue()))
                        .collect(joining(", ")),
                MAX_ARGUMENTS_LENGTH);
    }

    private static String value(Object value)
    {
        return switch (value) {
            case String text -> quote(text);
            case List<?> list -> list.stream().map(element -> element == null ? "NULL" : value(element)).collect(joining(", ", "ARRAY[", "]"));
            default -> escape(value.toString());
        };
    }

    private static String quote(String text)
    {
        return "'" + escape(cut(withoutPasswords(text), MAX_TEXT_LENGTH)).replace("'", "''") + "'";
    }

    private static String withoutPasswords(String text)
    {
        return PASSWORD.matcher(text).replaceAll("$1***@");
    }

    private static String cut(String text, int maxLength)
    {
        return text.length() <= maxLength ? text : "%s... (%s characters)".formatted(text.substring(0, maxLength), text.length());
    }

    private static String escape(String text)
    {
        StringBuilder escaped = new StringBuilder(text.length());
        text.chars().forEach(value -> {
            char character = (char) value;
            if (character == '\\') {
                escaped.append("\\\\");
            }
            else if (isPlain(character)) {
                escaped.append(character);
            }
            else {
                escaped.append("\\u%04X".formatted(value));
            }
        });
        return escaped.toString();
    }

    private static boolean isPlain(char character)
    {
        return switch (Character.getType(character)) {
            // of which FORMAT reorders text on a terminal
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE,
                    Character.PRIVATE_USE, Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
