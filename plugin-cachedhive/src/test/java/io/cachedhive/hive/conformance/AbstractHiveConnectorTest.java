package io.cachedhive.hive.conformance;

import io.trino.Session;
import io.trino.plugin.hive.HiveStorageFormat;
import io.trino.testing.BaseConnectorTest;
import io.trino.testing.QueryRunner;
import io.trino.testing.TestingConnectorBehavior;
import io.trino.testing.sql.TestTable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.OptionalInt;

import static com.google.common.base.Throwables.getStackTraceAsString;
import static io.cachedhive.hive.conformance.HiveBehavior.DIRECTORY_RENAME;
import static io.cachedhive.hive.conformance.HiveBehavior.NOT_TRANSACTIONAL;
import static io.cachedhive.hive.conformance.HiveBehavior.SCHEMA_RENAME;
import static io.cachedhive.hive.conformance.HiveBehavior.assertRefused;
import static io.trino.testing.TestingNames.randomNameSuffix;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

/**
 * Trino's own contract of a connector, over tables in S3 with a file metastore.
 * What Hive cannot do is declared in {@link HiveBehavior} or overridden here, each with its reason, and holds for plain Hive:
 * the cached connector has no exceptions of its own.
 */
@Tag("conformance")
abstract class AbstractHiveConnectorTest
        extends BaseConnectorTest
{
    private static final int MAX_NAME_LENGTH = 128;

    protected final HiveStorageFormat storageFormat;

    AbstractHiveConnectorTest(HiveStorageFormat storageFormat)
    {
        this.storageFormat = requireNonNull(storageFormat, "storageFormat is null");
    }

    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), storageFormat)
                .setTables(REQUIRED_TPCH_TABLES)
                .start(this::closeAfterClass);
    }

    @Override
    protected boolean hasBehavior(TestingConnectorBehavior behavior)
    {
        return HiveBehavior.declared(behavior).orElseGet(() -> super.hasBehavior(behavior));
    }

    // The file metastore takes the limit of the Thrift metastore's database

    @Override
    protected OptionalInt maxSchemaNameLength()
    {
        return OptionalInt.of(MAX_NAME_LENGTH);
    }

    @Override
    protected void verifySchemaNameLengthFailurePermissible(Throwable e)
    {
        assertThat(e).hasMessage("Schema name must be shorter than or equal to '128' characters but got '129'");
    }

    @Override
    protected OptionalInt maxTableNameLength()
    {
        return OptionalInt.of(MAX_NAME_LENGTH);
    }

    @Override
    protected void verifyTableNameLengthFailurePermissible(Throwable e)
    {
        assertThat(e).hasMessage("Table name must be shorter than or equal to '128' characters but got '129'");
    }

    // Names and types that Hive refuses

    @Override
    protected boolean isColumnNameRejected(Exception exception, String columnName, boolean delimited)
    {
        return switch (columnName) {
            case "atrailingspace " -> exception.getMessage().equals("Hive column names must not end with a space: 'atrailingspace '");
            case " aleadingspace" -> exception.getMessage().equals("Hive column names must not start with a space: ' aleadingspace'");
            case "a,comma" -> exception.getMessage().equals("Hive column names must not contain commas: 'a,comma'");
            default -> false;
        };
    }

    @Override
    protected Optional<DataMappingTestSetup> filterDataMappingSmokeTestData(DataMappingTestSetup setup)
    {
        return switch (setup.getTrinoTypeName()) {
            // Hive has no time of day, and timestamps without zone only
            case "time", "time(6)", "timestamp(3) with time zone", "timestamp(6) with time zone" -> Optional.of(setup.asUnsupported());
            // refused at the default hive.timestamp-precision of milliseconds, in words that the suite does not take for a refusal
            case "timestamp(6)" -> Optional.empty();
            default -> Optional.of(setup);
        };
    }

    // What Hive shows, with its own properties

    @Test
    @Override
    public void testShowCreateSchema()
    {
        Session session = getSession();
        assertThat((String) computeScalar("SHOW CREATE SCHEMA " + session.getSchema().orElseThrow()))
                .isEqualTo(
                        """
                        CREATE SCHEMA %s.tpch
                        WITH (
                           location = 's3://lake/warehouse/tpch'
                        )""".formatted(session.getCatalog().orElseThrow()));
    }

    @Test
    @Override
    public void testShowCreateTable()
    {
        assertThat((String) computeScalar("SHOW CREATE TABLE orders"))
                .isEqualTo(
                        """
                        CREATE TABLE %s.tpch.orders (
                           orderkey bigint,
                           custkey bigint,
                           orderstatus varchar(1),
                           totalprice double,
                           orderdate date,
                           orderpriority varchar(15),
                           clerk varchar(15),
                           shippriority integer,
                           comment varchar(79)
                        )
                        WITH (
                           format = '%s'
                        )""".formatted(getSession().getCatalog().orElseThrow(), storageFormat));
    }

    // What Hive refuses, in its own words

    @Test
    @Override
    public void verifySupportsMergeDeclaration()
    {
        assertRefused(super::verifySupportsMergeDeclaration, NOT_TRANSACTIONAL);
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

    // SUPPORTS_DELETE stands for the whole table here; these delete some of its rows

    @Test
    @Override
    public void testDelete()
    {
        assertRefused(super::testDelete, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testDeleteWithLike()
    {
        assertRefused(super::testDeleteWithLike, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testDeleteWithComplexPredicate()
    {
        assertRefused(super::testDeleteWithComplexPredicate, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testDeleteWithVarcharPredicate()
    {
        assertRefused(super::testDeleteWithVarcharPredicate, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testDeleteWithSemiJoin()
    {
        assertRefused(super::testDeleteWithSemiJoin, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testDeleteWithSubquery()
    {
        assertRefused(super::testDeleteWithSubquery, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testExplainAnalyzeWithDeleteWithSubquery()
    {
        assertRefused(super::testExplainAnalyzeWithDeleteWithSubquery, NOT_TRANSACTIONAL);
    }

    @Test
    @Override
    public void testRenameTable()
    {
        try (TestTable table = newTrinoTable("test_rename_", "AS SELECT 123 x")) {
            assertQueryFails("ALTER TABLE " + table.getName() + " RENAME TO test_rename_new_" + randomNameSuffix(), DIRECTORY_RENAME);
            assertQuery("SELECT x FROM " + table.getName(), "VALUES 123");
        }
    }

    @Test
    @Override
    public void testRenameSchema()
    {
        String schema = getSession().getSchema().orElseThrow();
        assertQueryFails("ALTER SCHEMA %s RENAME TO %s".formatted(schema, schema + randomNameSuffix()), SCHEMA_RENAME);
    }

    // Where Hive behaves in another way than the suite expects

    @Override
    protected void verifySelectAfterInsertFailurePermissible(Throwable e)
    {
        assertThat(getStackTraceAsString(e))
                .containsPattern("Cannot read from a table tpch.test_insert_select_\\w+ that was modified within transaction, you need to commit the transaction first");
    }

    /** The suite asks the connector for a table with default values, whatever SUPPORTS_DEFAULT_COLUMN_VALUE says. */
    @Test
    @Override
    public void testInsertForDefaultColumn()
    {
        abort("Hive columns have no default values");
    }

    @Override
    protected Session withoutSmallFileThreshold(Session session)
    {
        String catalog = getSession().getCatalog().orElseThrow();
        return Session.builder(session)
                .setCatalogSessionProperty(catalog, "orc_tiny_stripe_threshold", "0B")
                .setCatalogSessionProperty(catalog, "parquet_small_file_threshold", "0B")
                .build();
    }
}
