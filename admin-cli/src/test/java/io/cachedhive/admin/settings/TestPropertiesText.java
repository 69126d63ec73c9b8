package io.cachedhive.admin.settings;

import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestPropertiesText
{
    @Test
    void testValuesTakeTheirPlaces()
    {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("a", "9");
        values.put("b", "8");
        values.put("d", "7");

        assertThat(PropertiesText.with("# about a\na=1\n# about b\n#b=2\nc = 3\n", values)).isEqualTo("# about a\na=9\n# about b\nb=8\nc = 3\nd=7\n");
    }

    @Test
    void testPropertyWinsOverCommentedOne()
    {
        assertThat(PropertiesText.with("#a=1\na=2\na=3\n", Map.of("a", "4"))).isEqualTo("#a=1\na=4\n");
    }

    @Test
    void testReadAndWithout()
    {
        assertThat(PropertiesText.read("#x=1\n a.b = c=d \nbroken\n")).containsExactly(Map.entry("a.b", "c=d"));
        assertThat(PropertiesText.without("fs.cache.x=1\n#fs.cache.y=2\nb=3\n", name -> name.startsWith("fs.cache."))).isEqualTo("#fs.cache.y=2\nb=3\n");
    }

    @Test
    void testKnownProperties()
    {
        assertThat(KnownProperties.ofWorker()).contains("cache.ram.max-size", "http-server.http.port").doesNotContain("s3.region", "cachedhive.mode");
        assertThat(KnownProperties.ofOrigins()).contains("s3.region");
        assertThat(KnownProperties.ofCatalogs()).contains("cachedhive.mode");
    }
}
