package io.cachedhive.hive.conformance;

import io.trino.testing.TestingConnectorBehavior;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What Hive tables in S3 with a file metastore can do, where Trino's suites assume otherwise, and the words in which Hive refuses. */
final class HiveBehavior
{
    /** Single rows change only in transactional tables, and the file metastore has no transactions. */
    static final String NOT_TRANSACTIONAL = "Modifying Hive table rows is only supported for transactional tables";
    static final String DIRECTORY_RENAME = "S3 does not support directory renames";
    static final String SCHEMA_RENAME = "Could not rename database schema";

    private HiveBehavior() {}

    /** Empty where the default of the suites holds. */
    static Optional<Boolean> declared(TestingConnectorBehavior behavior)
    {
        return switch (behavior) {
            // see NOT_TRANSACTIONAL; whole tables and partitions can be deleted
            case SUPPORTS_ROW_LEVEL_DELETE,
                    SUPPORTS_UPDATE,
                    SUPPORTS_MERGE -> Optional.of(false);
            // Hive's connector takes no limit and no order into its scans
            case SUPPORTS_LIMIT_PUSHDOWN,
                    SUPPORTS_TOPN_PUSHDOWN -> Optional.of(false);
            // the file metastore renames directories, which S3 does not have
            case SUPPORTS_RENAME_SCHEMA,
                    SUPPORTS_RENAME_TABLE -> Optional.of(false);
            // files hold columns by position and keep the types they were written with
            case SUPPORTS_ADD_COLUMN_WITH_POSITION,
                    SUPPORTS_ADD_FIELD,
                    SUPPORTS_DROP_FIELD,
                    SUPPORTS_RENAME_FIELD,
                    SUPPORTS_SET_COLUMN_TYPE -> Optional.of(false);
            // not implemented by Hive's connector
            case SUPPORTS_TRUNCATE,
                    SUPPORTS_REFRESH_VIEW,
                    SUPPORTS_CREATE_MATERIALIZED_VIEW,
                    SUPPORTS_DEFAULT_COLUMN_VALUE,
                    SUPPORTS_NOT_NULL_CONSTRAINT -> Optional.of(false);
            // off by default in the suite, and Hive can
            case SUPPORTS_CREATE_FUNCTION,
                    SUPPORTS_MULTI_STATEMENT_WRITES,
                    SUPPORTS_REPORTING_WRITTEN_BYTES -> Optional.of(true);
            default -> Optional.empty();
        };
    }

    /** Runs a test of a suite as it is and asserts that the statement it is about is refused with this message. */
    static void assertRefused(ThrowingCallable test, String message)
    {
        assertThatThrownBy(test).hasStackTraceContaining(message);
    }
}
