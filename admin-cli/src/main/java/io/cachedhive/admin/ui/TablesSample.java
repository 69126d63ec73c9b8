package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.ui.WorkerState.Account;
import io.cachedhive.protocol.wire.CounterNames;

import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The tables with the most bytes read.
 *
 * @param count number of tables with counters
 * @param top tables in descending order of their bytes
 * @param missing hosts whose counters are not included
 */
record TablesSample(int count, List<TableUsage> top, Set<String> missing)
{
    static final TablesSample NONE = new TablesSample(0, List.of(), Set.of());

    private static final int MAX_TOP = 20;
    // hosts at the same time: a page is some hundred kB, and the program has little memory
    private static final int BATCH = 16;

    TablesSample
    {
        top = List.copyOf(top);
        missing = Set.copyOf(missing);
    }

    /**
     * Reads the counters of all tables from the cache workers.
     *
     * @param accounts of each reachable cache worker
     */
    static TablesSample collect(WorkerHosts http, Map<WorkerHost, List<Account>> accounts)
    {
        Map<Account, Map<String, TableUsage>> tables = new HashMap<>();
        Set<String> missing = new LinkedHashSet<>();
        List<WorkerHost> hosts = List.copyOf(accounts.keySet());
        for (int from = 0; from < hosts.size(); from += BATCH) {
            List<WorkerHost> batch = hosts.subList(from, Math.min(from + BATCH, hosts.size()));
            Set<Account> batchAccounts = new LinkedHashSet<>();
            batch.forEach(host -> batchAccounts.addAll(accounts.get(host)));
            for (Account account : batchAccounts) {
                List<WorkerHost> having = batch.stream().filter(host -> accounts.get(host).contains(account)).toList();
                collect(http, having, account, tables.computeIfAbsent(account, _ -> new HashMap<>()), missing);
            }
        }
        List<TableUsage> top = tables.values().stream()
                .flatMap(usages -> usages.values().stream())
                .sorted(Comparator.comparingLong(TableUsage::readBytes).reversed().thenComparing(TableUsage::table))
                .limit(MAX_TOP)
                .toList();
        return new TablesSample(tables.values().stream().mapToInt(Map::size).sum(), top, missing);
    }

    /**
     * Adds what the page shows of the tables.
     */
    void describe(ObjectNode data)
    {
        data.put("count", count);
        ArrayNode list = data.putArray("top");
        for (TableUsage usage : top) {
            list.addObject()
                    .put("cluster", usage.account().cluster())
                    .put("catalog", usage.account().catalog())
                    .put("table", usage.table())
                    .put("requests", usage.requests())
                    .put("hit_bytes", usage.hitBytes())
                    .put("remote_bytes", usage.remoteBytes())
                    .put("bypass_bytes", usage.bypassBytes());
        }
        ArrayNode hosts = data.putArray("missing");
        missing.stream().sorted().forEach(hosts::add);
    }

    private static void collect(WorkerHosts http, List<WorkerHost> hosts, Account account, Map<String, TableUsage> tables, Set<String> missing)
    {
        Map<WorkerHost, String> after = new LinkedHashMap<>();
        hosts.forEach(host -> after.put(host, ""));
        while (!after.isEmpty()) {
            Map<WorkerHost, String> paths = new LinkedHashMap<>();
            after.forEach((host, last) -> paths.put(host, path(account, last)));
            for (HostAnswer answer : http.ask(paths)) {
                WorkerHost host = answer.host();
                if (!(answer instanceof Answered answered)) {
                    missing.add(host.toString());
                    after.remove(host);
                    continue;
                }
                answered.content().path("tables").properties().forEach(entry ->
                        tables.merge(entry.getKey(), usage(account, entry.getKey(), entry.getValue()), TableUsage::plus));
                String next = answered.content().path("next").asText("");
                // the pages are in the order of the names, so that this ends
                if (next.compareTo(after.get(host)) > 0) {
                    after.put(host, next);
                }
                else {
                    after.remove(host);
                }
            }
        }
    }

    private static String path(Account account, String after)
    {
        List<String> parameters = new ArrayList<>();
        parameters.add("cluster=" + encode(account.cluster()));
        parameters.add("catalog=" + encode(account.catalog()));
        if (!after.isEmpty()) {
            parameters.add("after=" + encode(after));
        }
        return "/v1/tables?" + String.join("&", parameters);
    }

    private static String encode(String value)
    {
        return URLEncoder.encode(value, UTF_8).replace("+", "%20");
    }

    private static TableUsage usage(Account account, String table, JsonNode counters)
    {
        return new TableUsage(
                account,
                table,
                counters.path(CounterNames.REQUESTS).asLong(),
                counters.path(CounterNames.RAM_HIT_BYTES).asLong()
                        + counters.path(CounterNames.SSD_HIT_BYTES).asLong()
                        + counters.path(CounterNames.NON_LOCAL_HIT_BYTES).asLong(),
                counters.path(CounterNames.REMOTE_READ_BYTES).asLong(),
                counters.path(CounterNames.BYPASS_BYTES).asLong());
    }
}
