package io.cachedhive.engine.query;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.airlift.node.NodeInfo;
import io.trino.execution.QueryInfo;
import io.trino.execution.QueryManager;
import io.trino.spi.QueryId;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;

import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Keeps the last queries that scanned tables of cachedhive catalogs, with the metrics of their scans. The connector reports the id of a query when it plans a scan, and the
 * engine reports the final statistics of the query. Queries of other catalogs cost nothing.
 *
 * <p>The queries are in memory, until the coordinator restarts.
 */
public final class QueryRecorder
        implements QueryRecorderMBean
{
    private static final Logger log = Logger.get(QueryRecorder.class);

    static final int MAX_QUERIES = 10_000;

    private final Optional<QueryManager> queryManager;
    private final ObjectName name;

    // in the order of their first scan
    @GuardedBy("this")
    private final Set<QueryId> running = new LinkedHashSet<>();
    // in the order of their end
    @GuardedBy("this")
    private final Map<String, QueryRecord> finished = new LinkedHashMap<>();

    /**
     * @param queryManager empty on a worker, where no query is recorded
     */
    @Inject
    QueryRecorder(Optional<QueryManager> queryManager, NodeInfo node)
    {
        this.queryManager = requireNonNull(queryManager, "queryManager is null");
        try {
            this.name = new ObjectName("cachedhive:name=queries,node=" + ObjectName.quote(node.getNodeId()));
        }
        catch (JMException e) {
            throw new IllegalArgumentException("invalid node id: " + node.getNodeId(), e);
        }
    }

    @PostConstruct
    public void start()
            throws JMException
    {
        if (queryManager.isPresent()) {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new StandardMBean(this, QueryRecorderMBean.class), name);
        }
    }

    @PreDestroy
    public void stop()
            throws JMException
    {
        if (queryManager.isPresent()) {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        }
    }

    @Override
    public void scanStarted(String queryId)
    {
        QueryId id = QueryId.valueOf(queryId);
        synchronized (this) {
            if (queryManager.isEmpty() || !running.add(id)) {
                return;
            }
        }
        try {
            queryManager.get().addFinalQueryInfoListener(id, query -> ended(id, query));
        }
        catch (RuntimeException e) {
            // for instance, the server is stopping
            log.debug(e, "Query %s is not recorded", id);
            synchronized (this) {
                running.remove(id);
            }
        }
    }

    private void ended(QueryId id, QueryInfo query)
    {
        try {
            add(QueryRecord.of(query));
        }
        catch (RuntimeException e) {
            log.error(e, "Cannot record query %s", id);
        }
        finally {
            synchronized (this) {
                running.remove(id);
            }
        }
    }

    private synchronized void add(QueryRecord record)
    {
        finished.put(record.queryId(), record);
        if (finished.size() > MAX_QUERIES) {
            finished.remove(finished.keySet().iterator().next());
        }
    }

    /**
     * Returns the recorded queries in the order of their end, and then those that run.
     */
    List<QueryRecord> queries()
    {
        ImmutableList.Builder<QueryRecord> queries = ImmutableList.builder();
        List<QueryId> current;
        Set<String> ended;
        synchronized (this) {
            queries.addAll(finished.values());
            ended = Set.copyOf(finished.keySet());
            current = List.copyOf(running);
        }
        for (QueryId id : current) {
            if (ended.contains(id.toString())) {
                continue;
            }
            try {
                queries.add(QueryRecord.of(queryManager.orElseThrow().getFullQueryInfo(id)));
            }
            catch (RuntimeException e) {
                // for instance, it has just ended and expired
                log.debug(e, "Query %s is not shown", id);
            }
        }
        return queries.build();
    }
}
