package io.cachedhive.trino.rules;

import io.cachedhive.plugin.rules.RuleScan;
import io.cachedhive.trino.table.TableNames;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

/**
 * What rules ask of a query's session.
 */
public final class RuleScans
{
    private RuleScans() {}

    public static RuleScan of(ConnectorSession session, SchemaTableName table)
    {
        return new RuleScan(TableNames.fromTrino(table), session.getUser(), session.getSource(), ClientTags.of(session));
    }
}
