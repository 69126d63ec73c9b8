package io.cachedhive.tests.monitoring;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * Parses the part of Prometheus's query language that dashboards and alerts here are written in, so that they are checked where there is no {@code promtool}.
 * What it accepts is right as far as grammar and kinds of values go (a rate is of a range, nothing else is); it accepts less than Prometheus does.
 *
 * <pre>
 * expression: unary { operator unary }                       by precedence, with bool, on and ignoring refused
 * unary:      [ "-" ] ( number | "(" expression ")" | aggregation | call | selector )
 * selector:   name [ "{" label match string { "," ... } "}" ] [ "[" duration "]" ] [ "offset" duration ]
 * </pre>
 */
public final class PromQl
{
    private static final Pattern TOKEN = Pattern.compile(
            "\\s*(?:(?<number>\\d+(?:\\.\\d+)?)(?![a-z\\d])|(?<duration>\\d+[smhdw])(?!\\w)|" +
                    "(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?<string>\"[^\"\\\\]*\")|(?<symbol>==|!=|=~|!~|<=|>=|[-+*/%^<>=(){},]|\\[[^]]*]))");
    private static final Pattern DURATION = Pattern.compile("\\[\\d+[smhdw]]");

    private static final List<Set<String>> OPERATORS = List.of(
            Set.of("or"),
            Set.of("and", "unless"),
            Set.of("==", "!=", "<", ">", "<=", ">="),
            Set.of("+", "-"),
            Set.of("*", "/", "%"));
    private static final Set<String> AGGREGATIONS = Set.of("sum", "min", "max", "avg", "count");
    // and whether they are of a range
    private static final Map<String, Boolean> FUNCTIONS = Map.of(
            "rate", true,
            "increase", true,
            "delta", true,
            "max_over_time", true,
            "abs", false,
            "absent", false,
            "clamp_min", false,
            "scalar", false,
            "vector", false);

    private final String text;
    private final Set<Selector> selectors = new LinkedHashSet<>();
    private int position;
    private String kind = "";
    private String token = "";

    private PromQl(String text)
    {
        this.text = text;
    }

    /**
     * @param labels that have to be equal to a value
     */
    public record Selector(String metric, Map<String, String> labels)
    {
        public Selector
        {
            requireNonNull(metric, "metric is null");
            labels = Map.copyOf(labels);
        }
    }

    /**
     * @return what it selects
     * @throws IllegalArgumentException if it is not of the grammar, with the place
     */
    static Set<Selector> parse(String expression)
    {
        PromQl parser = new PromQl(expression.strip());
        parser.next();
        if (parser.expression(0)) {
            throw parser.failure("the expression is a range");
        }
        if (!parser.kind.equals("end")) {
            throw parser.failure("something follows the expression");
        }
        return parser.selectors;
    }

    private IllegalArgumentException failure(String problem)
    {
        return new IllegalArgumentException("%s, at '%s' before position %s of: %s".formatted(problem, token, position, text));
    }

    private void next()
    {
        if (text.substring(position).isBlank()) {
            kind = "end";
            token = "";
            return;
        }
        Matcher matcher = TOKEN.matcher(text).region(position, text.length());
        if (!matcher.lookingAt()) {
            throw failure("no such token");
        }
        position = matcher.end();
        for (String group : List.of("number", "duration", "name", "string", "symbol")) {
            if (matcher.group(group) != null) {
                kind = group;
                token = matcher.group(group);
            }
        }
    }

    private void expect(String symbol)
    {
        if (!kind.equals("symbol") || !token.equals(symbol)) {
            throw failure("expected " + symbol);
        }
        next();
    }

    private boolean takes(String symbol)
    {
        if (kind.equals("symbol") && token.equals(symbol)) {
            next();
            return true;
        }
        return false;
    }

    /**
     * @return whether it is a range
     */
    private boolean expression(int level)
    {
        if (level == OPERATORS.size()) {
            return unary();
        }
        boolean range = expression(level + 1);
        while ((kind.equals("symbol") || kind.equals("name")) && OPERATORS.get(level).contains(token)) {
            next();
            if (range | expression(level + 1)) {
                throw failure("an operand is a range");
            }
        }
        return range;
    }

    private boolean unary()
    {
        if (takes("-")) {
            return unary();
        }
        if (takes("(")) {
            boolean range = expression(0);
            expect(")");
            return range;
        }
        if (kind.equals("number")) {
            next();
            return false;
        }
        if (!kind.equals("name")) {
            throw failure("expected a value");
        }
        String name = token;
        next();
        if (AGGREGATIONS.contains(name)) {
            aggregation();
            return false;
        }
        if (kind.equals("symbol") && token.equals("(")) {
            call(name);
            return false;
        }
        return selector(name);
    }

    private void aggregation()
    {
        boolean grouped = grouping();
        arguments(false);
        if (!grouped) {
            grouping();
        }
    }

    private boolean grouping()
    {
        if (!kind.equals("name") || !(token.equals("by") || token.equals("without"))) {
            return false;
        }
        next();
        expect("(");
        do {
            if (!kind.equals("name")) {
                throw failure("expected a label");
            }
            next();
        }
        while (takes(","));
        expect(")");
        return true;
    }

    private void call(String function)
    {
        Boolean ofRange = FUNCTIONS.get(function);
        if (ofRange == null) {
            throw failure("no such function: " + function);
        }
        arguments(ofRange);
    }

    private void arguments(boolean firstIsRange)
    {
        expect("(");
        if (expression(0) != firstIsRange) {
            throw failure(firstIsRange ? "expected a range" : "a range is not expected");
        }
        while (takes(",")) {
            if (expression(0)) {
                throw failure("a range is not expected");
            }
        }
        expect(")");
    }

    private boolean selector(String name)
    {
        Map<String, String> labels = new HashMap<>();
        if (takes("{")) {
            do {
                if (!kind.equals("name")) {
                    throw failure("expected a label");
                }
                String label = token;
                next();
                String comparison = token;
                if (!Set.of("=", "!=", "=~", "!~").contains(comparison)) {
                    throw failure("expected = or another comparison of labels");
                }
                next();
                if (!kind.equals("string")) {
                    throw failure("expected a string");
                }
                if (comparison.equals("=")) {
                    labels.put(label, token.substring(1, token.length() - 1));
                }
                next();
            }
            while (takes(","));
            expect("}");
        }
        selectors.add(new Selector(name, labels));
        boolean range = range();
        offset();
        return range;
    }

    private void offset()
    {
        if (kind.equals("name") && token.equals("offset")) {
            next();
            if (!kind.equals("duration")) {
                throw failure("expected a duration");
            }
            next();
        }
    }

    private boolean range()
    {
        if (kind.equals("symbol") && token.startsWith("[")) {
            if (!DURATION.matcher(token).matches()) {
                throw failure("not a duration");
            }
            next();
            return true;
        }
        return false;
    }
}
