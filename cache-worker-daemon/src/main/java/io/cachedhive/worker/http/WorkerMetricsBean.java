package io.cachedhive.worker.http;

import com.google.common.base.CaseFormat;
import com.google.common.collect.ImmutableMap;
import com.google.inject.Inject;
import io.cachedhive.protocol.wire.CacheMetric;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;

import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.ReflectionException;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * Exports all metrics of the cache worker over JMX, each as an attribute with its name in camel case.
 */
public final class WorkerMetricsBean
        implements DynamicMBean
{
    private static final String NAME = "io.cachedhive.worker:name=CacheWorker";
    private static final Map<String, CacheMetric> METRICS = CacheMetric.ALL.stream()
            .collect(ImmutableMap.toImmutableMap(metric -> attribute(metric.name()), metric -> metric));

    private final MBeanServer server;
    private final WorkerMetrics metrics;

    @Inject
    public WorkerMetricsBean(MBeanServer server, WorkerMetrics metrics)
    {
        this.server = requireNonNull(server, "server is null");
        this.metrics = requireNonNull(metrics, "metrics is null");
    }

    @PostConstruct
    public void register()
            throws JMException
    {
        server.registerMBean(this, new ObjectName(NAME));
    }

    @PreDestroy
    public void unregister()
            throws JMException
    {
        server.unregisterMBean(new ObjectName(NAME));
    }

    /**
     * Returns the name of the attribute for a metric: {@code RamHitBytes} for {@code ram_hit_bytes}.
     */
    static String attribute(String metric)
    {
        return CaseFormat.LOWER_UNDERSCORE.to(CaseFormat.UPPER_CAMEL, metric);
    }

    @Override
    public Object getAttribute(String name)
            throws AttributeNotFoundException
    {
        CacheMetric metric = METRICS.get(name);
        if (metric == null) {
            throw new AttributeNotFoundException("The cache worker has no metric %s".formatted(name));
        }
        return metrics.snapshot().values().get(metric);
    }

    @Override
    public AttributeList getAttributes(String[] names)
    {
        Map<CacheMetric, Long> values = metrics.snapshot().values();
        AttributeList attributes = new AttributeList();
        for (String name : names) {
            CacheMetric metric = METRICS.get(name);
            // as the interface requires, an unknown attribute is missing in the result
            if (metric != null) {
                attributes.add(new Attribute(name, values.get(metric)));
            }
        }
        return attributes;
    }

    @Override
    public void setAttribute(Attribute attribute)
            throws AttributeNotFoundException
    {
        throw new AttributeNotFoundException("Metrics cannot be set: %s".formatted(attribute.getName()));
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes)
    {
        return new AttributeList();
    }

    @Override
    public Object invoke(String name, Object[] arguments, String[] signature)
            throws ReflectionException
    {
        throw new ReflectionException(new NoSuchMethodException(name), "Metrics have no operations");
    }

    @Override
    public MBeanInfo getMBeanInfo()
    {
        MBeanAttributeInfo[] attributes = METRICS.entrySet().stream()
                .map(entry -> new MBeanAttributeInfo(entry.getKey(), "long", entry.getValue().description(), true, false, false))
                .toArray(MBeanAttributeInfo[]::new);
        return new MBeanInfo(WorkerMetricsBean.class.getName(), "Counters and gauges of the cache worker", attributes, null, null, null);
    }
}
