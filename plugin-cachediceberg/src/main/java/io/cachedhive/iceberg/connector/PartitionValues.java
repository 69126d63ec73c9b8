package io.cachedhive.iceberg.connector;

import io.trino.plugin.iceberg.IcebergSplit;
import io.trino.plugin.iceberg.IcebergTableHandle;
import io.trino.plugin.iceberg.PartitionData;
import io.trino.spi.type.TypeManager;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.types.Type;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import static java.util.Objects.requireNonNull;

/**
 * The partition values of the splits of one scan, in Iceberg's text, by the name of the partition field. Fields without a transform also have the name of their column.
 */
final class PartitionValues
{
    private final IcebergTableHandle table;
    private final TypeManager typeManager;
    private final Map<Integer, PartitionSpec> specs = new ConcurrentHashMap<>();

    PartitionValues(IcebergTableHandle table, TypeManager typeManager)
    {
        this.table = requireNonNull(table, "table is null");
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    Map<String, String> of(IcebergSplit split)
    {
        PartitionSpec spec = specs.computeIfAbsent(split.specId(), this::parseSpec);
        if (spec.isUnpartitioned()) {
            return Map.of();
        }
        Type[] types = spec.partitionType().fields().stream()
                .map(field -> field.type())
                .toArray(Type[]::new);
        PartitionData data = PartitionData.fromBlocks(split.partitionValues(), types, typeManager);
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < types.length; i++) {
            PartitionField field = spec.fields().get(i);
            if (field.transform().isVoid()) {
                continue;
            }
            String value = text(field.transform(), types[i], data.get(i, Object.class));
            values.put(field.name().toLowerCase(Locale.ENGLISH), value);
            if (field.transform().isIdentity()) {
                values.putIfAbsent(spec.schema().findColumnName(field.sourceId()).toLowerCase(Locale.ENGLISH), value);
            }
        }
        return values;
    }

    private PartitionSpec parseSpec(int id)
    {
        Schema schema = SchemaParser.fromJson(table.getTableSchemaJson());
        return PartitionSpecParser.fromJson(schema, table.getPartitionSpecJsons().get(id));
    }

    @SuppressWarnings("unchecked")
    private static <T> String text(Transform<?, T> transform, Type type, Object value)
    {
        return transform.toHumanString(type, (T) value);
    }
}
