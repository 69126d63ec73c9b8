package io.cachedhive.hive.conformance;

import io.trino.testing.BaseConnectorSmokeTest;
import io.trino.testing.QueryRunner;
import io.trino.testing.TestingConnectorBehavior;
import org.junit.jupiter.api.Test;

import static io.cachedhive.hive.conformance.HiveBehavior.DIRECTORY_RENAME;
import static io.cachedhive.hive.conformance.HiveBehavior.NOT_TRANSACTIONAL;
import static io.cachedhive.hive.conformance.HiveBehavior.SCHEMA_RENAME;
import static io.cachedhive.hive.conformance.HiveBehavior.assertRefused;
import static io.trino.plugin.hive.HiveStorageFormat.PARQUET;
import static org.assertj.core.api.Assertions.assertThat;

/** A minute's selection of what {@link AbstractHiveConnectorTest} checks at length. */
abstract class AbstractHiveConnectorSmokeTest
        extends BaseConnectorSmokeTest
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), PARQUET)
                .setTables(REQUIRED_TPCH_TABLES)
                .start(this::closeAfterClass);
    }

    @Override
    protected boolean hasBehavior(TestingConnectorBehavior behavior)
    {
        return HiveBehavior.declared(behavior).orElseGet(() -> super.hasBehavior(behavior));
    }

    @Test
    @Override
    public void verifySupportsUpdateDeclaration()
    {
        assertRefused(super::verifySupportsUpdateDeclaration, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void verifySupportsRowLevelUpdateDeclaration()
    {
        assertRefused(super::verifySupportsRowLevelUpdateDeclaration, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void verifySupportsRowLevelDeleteDeclaration()
    {
        assertRefused(super::verifySupportsRowLevelDeleteDeclaration, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testRowLevelUpdate()
    {
        assertRefused(super::testRowLevelUpdate, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testMerge()
    {
        assertRefused(super::testMerge, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testRenameTable()
    {
        assertRefused(super::testRenameTable, DIRECTORY_RENAME);
    }

    @Test
    @Override
    public void testRenameSchema()
    {
        assertRefused(super::testRenameSchema, SCHEMA_RENAME);
    }

    /** Hive adds the properties of the table. */
    @Test
    @Override
    public void testShowCreateTable()
    {
        assertThat((String) computeScalar("SHOW CREATE TABLE region"))
                .isEqualTo(
                        """
                        CREATE TABLE %s.tpch.region (
                           regionkey bigint,
                           name varchar(25),
                           comment varchar(152)
                        )
                        WITH (
                           format = 'PARQUET'
                        )""".formatted(getSession().getCatalog().orElseThrow()));
    }
}
