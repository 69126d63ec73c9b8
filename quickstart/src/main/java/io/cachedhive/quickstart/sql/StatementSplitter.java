package io.cachedhive.quickstart.sql;

import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Cuts text into SQL statements at semicolons that are not within quotes or comments.
 * Fed piece by piece, so that a prompt knows whether a statement is still open.
 * The body of a routine ({@code BEGIN ... END}) has semicolons of its own and is not understood.
 */
public final class StatementSplitter
{
    private enum State
    {
        TEXT, STRING, IDENTIFIER, LINE_COMMENT, BLOCK_COMMENT
    }

    private final StringBuilder statement = new StringBuilder();
    private State state = State.TEXT;
    // whether the open statement has anything but white space and comments
    private boolean hasContent;

    /// All statements of a text; the last one needs no semicolon.
    public static List<String> split(String text)
    {
        StatementSplitter splitter = new StatementSplitter();
        List<String> statements = new ArrayList<>(splitter.add(text));
        String rest = splitter.finish();
        if (!rest.isEmpty()) {
            statements.add(rest);
        }
        return statements;
    }

    /// Takes more text and returns the statements that it completes, without their semicolons.
    public List<String> add(String text)
    {
        requireNonNull(text, "text is null");
        List<String> complete = new ArrayList<>();
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            char next = index + 1 < text.length() ? text.charAt(index + 1) : '\0';
            switch (state) {
                case TEXT -> {
                    if (character == ';') {
                        String done = finish();
                        if (!done.isEmpty()) {
                            complete.add(done);
                        }
                        continue;
                    }
                    if (character == '-' && next == '-') {
                        state = State.LINE_COMMENT;
                    }
                    else if (character == '/' && next == '*') {
                        state = State.BLOCK_COMMENT;
                        statement.append(character);
                        index++;
                        character = next;
                    }
                    else {
                        hasContent |= !Character.isWhitespace(character);
                        // a doubled quote inside closes and opens again, which comes to the same
                        if (character == '\'') {
                            state = State.STRING;
                        }
                        else if (character == '"') {
                            state = State.IDENTIFIER;
                        }
                    }
                }
                case STRING -> {
                    if (character == '\'') {
                        state = State.TEXT;
                    }
                }
                case IDENTIFIER -> {
                    if (character == '"') {
                        state = State.TEXT;
                    }
                }
                case LINE_COMMENT -> {
                    if (character == '\n') {
                        state = State.TEXT;
                    }
                }
                case BLOCK_COMMENT -> {
                    if (character == '*' && next == '/') {
                        state = State.TEXT;
                        statement.append(character);
                        index++;
                        character = next;
                    }
                }
            }
            statement.append(character);
        }
        return complete;
    }

    /// Whether nothing has been said since the last semicolon.
    public boolean isEmpty()
    {
        return !hasContent && state == State.TEXT;
    }

    /// The open statement, empty if there is none; the splitter starts anew.
    public String finish()
    {
        String text = hasContent ? statement.toString().strip() : "";
        statement.setLength(0);
        hasContent = false;
        state = State.TEXT;
        return text;
    }
}
