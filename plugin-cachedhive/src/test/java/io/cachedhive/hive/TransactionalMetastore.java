package io.cachedhive.hive;

import io.trino.metastore.HiveMetastore;
import io.trino.metastore.Table;
import io.trino.spi.connector.SchemaTableName;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import static java.util.stream.Collectors.joining;

/**
 * Adds transactions to a metastore that has none. Every transaction commits at once, and no lock is ever taken, so statements must not run concurrently.
 */
final class TransactionalMetastore
        implements InvocationHandler
{
    private final HiveMetastore delegate;
    private final AtomicLong transactions = new AtomicLong();
    private final Map<String, AtomicLong> writes = new ConcurrentHashMap<>();

    private TransactionalMetastore(HiveMetastore delegate)
    {
        this.delegate = delegate;
    }

    static HiveMetastore of(HiveMetastore delegate)
    {
        return (HiveMetastore) Proxy.newProxyInstance(
                HiveMetastore.class.getClassLoader(),
                new Class<?>[] {HiveMetastore.class},
                new TransactionalMetastore(delegate));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments)
            throws Throwable
    {
        return switch (method.getName()) {
            case "openTransaction" -> transactions.incrementAndGet();
            case "allocateWriteId" -> writes(arguments[0] + "." + arguments[1]).incrementAndGet();
            case "getValidWriteIds" -> validWriteIds((List<?>) arguments[0], (long) arguments[1]);
            case "alterTransactionalTable" -> {
                Table table = (Table) arguments[0];
                invoke(HiveMetastore.class.getMethod("replaceTable", String.class, String.class, Table.class, arguments[3].getClass(), Map.class),
                        new Object[] {table.getDatabaseName(), table.getTableName(), table, arguments[3], Map.of()});
                yield null;
            }
            case "checkSupportsTransactions",
                    "commitTransaction",
                    "abortTransaction",
                    "sendTransactionHeartbeat",
                    "acquireSharedReadLock",
                    "acquireTableWriteLock",
                    "updateTableWriteId",
                    "addDynamicPartitions" -> null;
            default -> invoke(method, arguments);
        };
    }

    private AtomicLong writes(String table)
    {
        return writes.computeIfAbsent(table, _ -> new AtomicLong());
    }

    /**
     * In the format of Hive: all writes up to the last one are valid.
     */
    private String validWriteIds(List<?> tables, long transaction)
    {
        return transaction + tables.stream()
                .map(SchemaTableName.class::cast)
                .map(table -> "$%s:%s:%s::".formatted(table, writes(table.toString()), Long.MAX_VALUE))
                .collect(joining());
    }

    private Object invoke(Method method, Object[] arguments)
            throws Throwable
    {
        try {
            return method.invoke(delegate, arguments);
        }
        catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
