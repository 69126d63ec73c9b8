package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.ClusterNode;

import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The beans of one Trino node, read as an operator's monitoring reads them: over remote JMX.
 */
final class NodeJmx
        implements AutoCloseable
{
    private final JMXConnector connector;
    private final MBeanServerConnection beans;

    private NodeJmx(JMXConnector connector)
            throws IOException
    {
        this.connector = connector;
        this.beans = connector.getMBeanServerConnection();
    }

    static NodeJmx connect(ClusterNode node)
            throws IOException
    {
        return new NodeJmx(JMXConnectorFactory.connect(node.home().jmxUrl().orElseThrow()));
    }

    /**
     * The catalog's bytes by source as this node counted them.
     */
    Counters counters(String catalog)
            throws JMException, IOException
    {
        ObjectName name = stats(catalog);
        return new Counters(
                number(name, "RequestedBytes"),
                number(name, "RamHitBytes"),
                number(name, "SsdHitBytes"),
                number(name, "NonLocalHitBytes"),
                number(name, "RemoteReadBytes"),
                number(name, "BypassBytes"));
    }

    /**
     * The catalog's bytes from origins beyond what was requested: the node gets most of them from the cache worker of its host.
     */
    long extraBytes(String catalog)
            throws JMException, IOException
    {
        return number(stats(catalog), "ExtraReadFromRemote");
    }

    private ObjectName stats(String catalog)
            throws JMException, IOException
    {
        Set<ObjectName> names = beans.queryNames(new ObjectName("cachedhive:name=%s,type=stats,*".formatted(catalog)), null);
        if (names.size() != 1) {
            throw new AttributeNotFoundException("not one statistics bean of catalog %s: %s".formatted(catalog, names));
        }
        return names.iterator().next();
    }

    private long number(ObjectName name, String attribute)
            throws JMException, IOException
    {
        return ((Number) beans.getAttribute(name, attribute)).longValue();
    }

    /**
     * Names of the threads that run now.
     */
    List<String> threadNames()
            throws IOException
    {
        return threads(0)
                .map(ThreadInfo::getThreadName)
                .toList();
    }

    /**
     * Names of all beans.
     */
    List<String> beanNames()
            throws IOException
    {
        return beans.queryNames(null, null).stream().map(ObjectName::getCanonicalName).toList();
    }

    /**
     * Objects of a class that are reachable.
     */
    long instances(String className)
            throws JMException, IOException
    {
        // collects garbage first
        String histogram = (String) beans.invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "gcClassHistogram",
                new Object[] {new String[] {}},
                new String[] {String[].class.getName()});
        // number, instances, bytes, class
        return histogram.lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(fields -> fields.length >= 4 && fields[3].equals(className))
                .mapToLong(fields -> Long.parseLong(fields[1]))
                .sum();
    }

    /**
     * Threads that run code of the class, or called it and wait for it.
     */
    long threadsWithin(String className)
            throws IOException
    {
        return threads(Integer.MAX_VALUE)
                .filter(thread -> Arrays.stream(thread.getStackTrace()).anyMatch(frame -> frame.getClassName().equals(className)))
                .count();
    }

    private Stream<ThreadInfo> threads(int frames)
            throws IOException
    {
        ThreadMXBean threads = ManagementFactory.newPlatformMXBeanProxy(beans, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds(), frames))
                .filter(Objects::nonNull);
    }

    @Override
    public void close()
            throws IOException
    {
        connector.close();
    }
}
