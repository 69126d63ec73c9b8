package io.cachedhive.admin.host;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestWorkerHost
{
    @ParameterizedTest
    @CsvSource({
            "worker1,             worker1,    8485",
            "' worker1 ',         worker1,    8485",
            "worker-1.example:80, worker-1.example, 80",
            "10.0.0.7,            10.0.0.7,   8485",
            "10.0.0.7:65535,      10.0.0.7,   65535",
            "[::1],               ::1,        8485",
            "[fe80::7]:1,         fe80::7,    1",
    })
    void testParse(String text, String name, int port)
    {
        WorkerHost host = WorkerHost.parse(text);

        assertThat(host).isEqualTo(new WorkerHost(name, port, false));
        assertThat(WorkerHost.parse(host.toString())).isEqualTo(host);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "", " ", ":8485", "worker1:", "worker1:http", "worker1:0", "worker1:65536", "worker1:-1",
            "::1", "fe80::7:80", "[::1", "[]", "[::1]8485", "two words", "a/b", "user@worker1",
    })
    void testRefuse(String text)
    {
        assertThatThrownBy(() -> WorkerHost.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("(port|host) .*");
    }

    @Test
    void testUri()
    {
        assertThat(WorkerHost.parse("worker1").toUri("/v1/status")).contains(URI.create("http://worker1:8485/v1/status"));
        assertThat(WorkerHost.parse("https://worker1:443").toUri("/v1/status")).contains(URI.create("https://worker1:443/v1/status"));
        assertThat(WorkerHost.parse("[::1]:80").toUri("/v1/status")).contains(URI.create("http://[::1]:80/v1/status"));
    }
}
