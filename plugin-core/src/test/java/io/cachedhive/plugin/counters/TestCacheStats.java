package io.cachedhive.plugin.counters;

import io.cachedhive.protocol.wire.CounterNames;
import org.junit.jupiter.api.Test;
import org.weakref.jmx.MBeanExporter;

import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class TestCacheStats
{
    /**
     * Each counter has a value of its own, so an attribute of another counter, or of none, is seen.
     */
    @Test
    void testEachAttributeHasItsCounter()
            throws Exception
    {
        Map<String, Long> totals = new HashMap<>();
        totals.put(CounterNames.REQUESTS, 1_000L);
        totals.put(CounterNames.REQUESTED_BYTES, 2_000L);
        totals.put(CounterNames.RAM_HIT_BYTES, 300L);
        totals.put(CounterNames.SSD_HIT_BYTES, 50L);
        totals.put(CounterNames.NON_LOCAL_HIT_BYTES, 250L);
        totals.put(CounterNames.REMOTE_READ_BYTES, 200L);
        totals.put(CounterNames.BYPASS_BYTES, 7_000L);
        totals.put(CounterNames.RAM_HIT_REQUESTS, 11L);
        totals.put(CounterNames.SSD_HIT_REQUESTS, 22L);
        totals.put(CounterNames.NON_LOCAL_HIT_REQUESTS, 44L);
        totals.put(CounterNames.REMOTE_READ_REQUESTS, 88L);
        totals.put(CounterNames.BYPASS_REQUESTS, 99L);
        totals.put(CounterNames.HEDGE_EXTRA_BYTES, 5L);
        totals.put(CounterNames.VERIFIED_BYTES, 60L);

        Map<String, Object> expected = new HashMap<>();
        expected.put("Active", true);
        expected.put("CachedReads", 33L);
        expected.put("NonLocalReads", 44L);
        expected.put("RemoteReads", 88L);
        expected.put("HitRate", 0.75);
        expected.put("MissRate", 0.25);
        expected.put("ReadFromCache", 350L);
        expected.put("ReadFromRemote", 200L);
        expected.put("NonLocalDataRead", 250L);
        expected.put("ExtraReadFromRemote", 765L);
        expected.put("Requests", 1_000L);
        expected.put("RequestedBytes", 2_000L);
        expected.put("RamHitBytes", 300L);
        expected.put("SsdHitBytes", 50L);
        expected.put("NonLocalHitBytes", 250L);
        expected.put("RemoteReadBytes", 200L);
        expected.put("BypassBytes", 7_000L);
        expected.put("DroppedReleases", 8L);
        expected.put("UnrecordedFlushes", 9L);

        MBeanServer server = MBeanServerFactory.newMBeanServer();
        ObjectName name = new ObjectName("cachedhive:name=lake,type=stats");
        new MBeanExporter(server).export(name, new CacheStats(() -> totals, () -> 700, () -> 8, () -> 9, () -> true));
        Map<String, Object> attributes = new HashMap<>();
        for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
            attributes.put(attribute.getName(), server.getAttribute(name, attribute.getName()));
        }
        assertThat(attributes).isEqualTo(expected);
    }
}
