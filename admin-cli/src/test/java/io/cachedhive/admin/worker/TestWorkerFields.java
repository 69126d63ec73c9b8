package io.cachedhive.admin.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestWorkerFields
{
    @Test
    void testNamesAndDepths()
            throws JsonProcessingException
    {
        WorkerFields fields = fields("""
                {
                    "status": {"workerId": "w1", "state": "inner", "uptime_millis": 12},
                    "state": "outer",
                    "gauges": {"ram": {"ram_used_bytes": 4096}},
                    "SSDUsed": 1,
                    "tables": [{"requests": 5}],
                    "hit_rate": 0.5
                }
                """);

        assertThat(fields.text("worker_id")).contains("w1");
        assertThat(fields.text("state")).contains("outer");
        assertThat(fields.number("uptime_millis")).hasValue(12);
        assertThat(fields.number("ram_used_bytes")).hasValue(4096);
        assertThat(fields.ratio("hit_rate")).hasValue(0.5);
        // what stands in a list stands there once for each of something
        assertThat(fields.number("requests")).isEmpty();
    }

    @Test
    void testWhatIsNotThere()
            throws JsonProcessingException
    {
        WorkerFields fields = fields("""
                {"state": null, "problem": "", "requests": "many", "empty": {}}
                """);

        assertThat(fields.text("state")).isEmpty();
        assertThat(fields.text("problem")).isEmpty();
        assertThat(fields.number("requests")).isEmpty();
        assertThat(fields.ratio("requests")).isEmpty();
        assertThat(fields.text("empty")).isEmpty();
        assertThat(fields.text("unheard_of")).isEmpty();
    }

    private static WorkerFields fields(String json)
            throws JsonProcessingException
    {
        return WorkerFields.of(new ObjectMapper().readTree(json));
    }
}
