package io.cachedhive.admin.ui;

import io.cachedhive.admin.ui.WorkerState.Account;

import static java.util.Objects.requireNonNull;

/**
 * The counters of a table, summed over the cache workers.
 *
 * @param table with its schema
 * @param hitBytes read from RAM, SSD, and cache workers of other hosts
 * @param remoteBytes read from the object store into the cache
 * @param bypassBytes read from the object store by the readers themselves
 */
record TableUsage(Account account, String table, long requests, long hitBytes, long remoteBytes, long bypassBytes)
{
    TableUsage
    {
        requireNonNull(account, "account is null");
        requireNonNull(table, "table is null");
    }

    long readBytes()
    {
        return hitBytes + remoteBytes + bypassBytes;
    }

    TableUsage plus(TableUsage other)
    {
        return new TableUsage(
                account,
                table,
                requests + other.requests,
                hitBytes + other.hitBytes,
                remoteBytes + other.remoteBytes,
                bypassBytes + other.bypassBytes);
    }
}
