package io.cachedhive.quickstart.check;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TestQuickstartCheck
{
    @Test
    void testSlowDiskOperations()
    {
        assertThat(QuickstartCheck.slowDiskOperations("""
                {"gauges" : {"ssd_errors_io_error" : 7, "ssd_errors_slow" : 12, "overloaded_load_queue":30, "overloaded_frames":5}}
                """)).isEqualTo(42);
        assertThat(QuickstartCheck.slowDiskOperations("")).isEqualTo(0);
    }
}
