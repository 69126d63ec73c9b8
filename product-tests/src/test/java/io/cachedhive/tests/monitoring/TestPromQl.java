package io.cachedhive.tests.monitoring;

import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Test(groups = "fast")
public class TestPromQl
{
    public void testNames()
    {
        assertThat(names("up{job=\"cachedhive\"} == 0")).containsExactly("up");
        assertThat(names("sum(rate(a_total{job=~\"x\", le!=\"1\"}[5m])) / (sum by (instance, job) (b) + sum(c) without (d) * -2.5) > 0.1 and e unless f"))
                .containsExactly("a_total", "b", "c", "e", "f");
        assertThat(names(" clamp_min( max_over_time(x[1d]), 1 )\n")).containsExactly("x");
        assertThat(names("absent(a) or vector(0) < increase(b[6h] offset 1w) / scalar(c offset 5m)")).containsExactly("a", "b", "c");
    }

    private static List<String> names(String expression)
    {
        return PromQl.parse(expression).stream().map(PromQl.Selector::metric).toList();
    }

    public void testLabels()
    {
        assertThat(PromQl.parse("sum(a{b=\"c\", d!=\"e\", f=~\"g|h\"})")).containsExactly(new PromQl.Selector("a", Map.of("b", "c")));
    }

    @DataProvider
    public static Object[][] wrong()
    {
        return new Object[][] {
                {"", "expected a value"},
                {"sum(a", "expected )"},
                {"a)", "something follows the expression"},
                {"a b", "something follows the expression"},
                {"rate(a)", "expected a range"},
                {"sum(a[5m])", "a range is not expected"},
                {"a[5m]", "the expression is a range"},
                {"a[5m] > 1", "an operand is a range"},
                {"a[5 minutes]", "not a duration"},
                {"rats(a[5m])", "no such function: rats"},
                {"a{b}", "expected = or another comparison of labels"},
                {"a{b=c}", "expected a string"},
                {"a{b=\"c\"", "expected }"},
                {"sum by (a", "expected )"},
                {"a > ", "expected a value"},
                {"a offset b", "expected a duration"},
                {"a offset [5m]", "expected a duration"},
                {"a ? b", "no such token"},
        };
    }

    @Test(dataProvider = "wrong")
    public void testWrong(String expression, String problem)
    {
        assertThatThrownBy(() -> PromQl.parse(expression)).isInstanceOf(IllegalArgumentException.class).hasMessageStartingWith(problem);
    }
}
