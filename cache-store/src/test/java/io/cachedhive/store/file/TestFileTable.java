package io.cachedhive.store.file;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestFileTable
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));

    private static FileMetadata metadata(String location, Optional<String> etag)
    {
        return new FileMetadata(new FileVersion(ORIGIN, location, 100, 1000), etag, true, "schema.table");
    }

    @Test
    void tellsWhatItWasTold()
    {
        FileTable files = new FileTable();
        List<FileMetadata> all = List.of(
                metadata("s3://bucket/a/b/c", Optional.empty()),
                metadata("s3://bucket/a/b/", Optional.of("")),
                metadata("no slash at all", Optional.of("W/\"weak\"")),
                metadata("", Optional.of("\"0123456789abcdef0123456789abcdef-3\"")),
                metadata("s3://größe/日本/" + "x".repeat(30_000), Optional.of("e".repeat(5000))),
                new FileMetadata(new FileVersion(new OriginId(new Digest128(-1, Long.MIN_VALUE)), "/", 0, -1), Optional.of("\""), false, ""),
                new FileMetadata(new FileVersion(ORIGIN, "//", Long.MAX_VALUE, Long.MIN_VALUE), Optional.of("\""), false, "t"),
                new FileMetadata(new FileVersion(ORIGIN, "//", Long.MAX_VALUE, Long.MAX_VALUE), Optional.of("\""), false, "t"));
        for (FileMetadata metadata : all) {
            files.add(metadata.version().id(), metadata);
        }
        assertThat(files.size()).isEqualTo(all.size());
        for (FileMetadata metadata : all) {
            StoredFile file = files.get(metadata.version().id()).orElseThrow();
            assertThat(file.id()).isEqualTo(metadata.version().id());
            assertThat(file.metadata()).isEqualTo(metadata);
            assertThat(file.etagDigest()).isEqualTo(metadata.etagDigest());
            assertThat(files.textBytes(file)).isEqualTo(bytes(metadata.version().location()) + bytes(metadata.table()) + bytes(metadata.etag().orElse("")));
            assertThat(files.byOrdinal(file.ordinal())).isEqualTo(file);
        }
        FileMetadata provisional = all.getFirst();
        files.confirm(files.get(provisional.version().id()).orElseThrow());
        assertThat(files.get(provisional.version().id()).orElseThrow().metadata())
                .isEqualTo(new FileMetadata(provisional.version(), provisional.etag(), false, provisional.table()));
    }

    private static int bytes(String text)
    {
        return text.getBytes(UTF_8).length;
    }

    @Test
    void aDroppedBindingStaysDead()
    {
        FileTable files = new FileTable();
        FileMetadata metadata = metadata("s3://bucket/file", Optional.of("\"etag\""));
        FileVersionId id = metadata.version().id();
        StoredFile first = files.add(id, metadata);
        files.addSsdBlocks(first.ordinal(), 1, 10);
        files.drop(first);
        assertThat(first.isDropped()).isTrue();
        assertThat(files.get(id)).isEmpty();
        // has blocks, so its ordinal is its own
        StoredFile second = files.add(id, metadata);
        assertThat(second.ordinal()).isNotEqualTo(first.ordinal());
        assertThat(first.isDropped()).isTrue();
        assertThat(files.byOrdinal(first.ordinal())).isEqualTo(first);
        assertThat(files.find(first.ordinal())).isEmpty();

        files.addSsdBlocks(first.ordinal(), -1, -10);
        FileMetadata otherMetadata = metadata("s3://bucket/other", Optional.of("\"etag\""));
        StoredFile other = files.add(otherMetadata.version().id(), otherMetadata);
        assertThat(other.ordinal()).isEqualTo(first.ordinal());
        assertThat(other).isNotEqualTo(first);
        assertThat(other.isDropped()).isFalse();
        assertThat(first.isDropped()).isTrue();
        assertThat(first.id()).isEqualTo(id);
        assertThat(first.ssdBlocks()).isZero();
        assertThatThrownBy(first::metadata).hasMessageContaining("is not in the table any more");
        assertThatThrownBy(() -> files.addFills(first, 1)).hasMessageContaining("is not in the table any more");
        assertThatThrownBy(() -> files.drop(first)).hasMessageContaining("is not in the table");

        // the same file in the same place is another binding too
        files.drop(other);
        StoredFile third = files.add(otherMetadata.version().id(), otherMetadata);
        assertThat(third.ordinal()).isEqualTo(other.ordinal());
        assertThat(other.isDropped()).isTrue();
        assertThat(third.isDropped()).isFalse();
    }

    @Test
    void givesNoOrdinalAwayWhileTheyAreHeld()
    {
        FileTable files = new FileTable();
        List<StoredFile> before = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            before.add(add(files, "s3://bucket/before" + i));
        }
        Set<Integer> dropped = new HashSet<>();
        for (StoredFile file : before.subList(0, 5)) {
            dropped.add(file.ordinal());
            files.drop(file);
        }
        files.holdOrdinals();
        files.holdOrdinals();
        StoredFile late = add(files, "s3://bucket/late");
        assertThat(dropped).contains(late.ordinal());
        files.drop(late);
        StoredFile after = add(files, "s3://bucket/after");
        assertThat(after.ordinal()).isNotEqualTo(late.ordinal());
        files.releaseOrdinals();
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            given.add(add(files, "s3://bucket/held" + i).ordinal());
        }
        assertThat(given).doesNotContain(late.ordinal());
        files.releaseOrdinals();
        assertThat(add(files, "s3://bucket/released").ordinal()).isEqualTo(late.ordinal());
    }

    private static StoredFile add(FileTable files, String location)
    {
        FileMetadata metadata = metadata(location, Optional.of("\"etag\""));
        return files.add(metadata.version().id(), metadata);
    }

    @Test
    void forgetsTheOldestWithoutBlocks()
    {
        FileTable files = new FileTable();
        StoredFile used = add(files, "s3://bucket/used/file");
        files.addRamBlocks(used, 1);
        StoredFile idle = add(files, "s3://bucket/idle/file");
        for (int i = 0; i < 10_000; i++) {
            add(files, "s3://bucket/many/" + i);
        }
        assertThat(used.isDropped()).isFalse();
        assertThat(idle.isDropped()).isTrue();
        assertThat(files.size()).isEqualTo(10_001);
        // table, origin, two directories
        assertThat(files.sharedTexts()).isEqualTo(4);
    }

    @Test
    void behavesLikeAMap()
    {
        long seed = Long.getLong("test.seed", System.nanoTime());
        System.out.println("test.seed=" + seed);
        Random random = new Random(seed);
        FileTable files = new FileTable();
        Map<FileVersionId, FileMetadata> model = new HashMap<>();
        List<StoredFile> live = new ArrayList<>();
        List<StoredFile> dead = new ArrayList<>();
        for (int step = 0; step < 60_000; step++) {
            boolean adds = random.nextInt(100) < (step / 20_000 % 2 == 0 ? 70 : 30);
            if (adds) {
                FileMetadata metadata = new FileMetadata(
                        new FileVersion(
                                new OriginId(new Digest128(1, random.nextInt(3))),
                                "s3://bucket/table/ds=%s/%s".formatted(random.nextInt(500), new UUID(random.nextLong(), random.nextLong())),
                                random.nextLong() >>> (1 + random.nextInt(62)),
                                random.nextLong() >> random.nextInt(62)),
                        random.nextBoolean() ? Optional.empty() : Optional.of("\"%s\"".formatted(random.nextInt())),
                        random.nextBoolean(),
                        "schema.table" + random.nextInt(5));
                StoredFile file = files.add(metadata.version().id(), metadata);
                files.addSsdBlocks(file.ordinal(), 1, 10);
                model.put(file.id(), metadata);
                live.add(file);
            }
            else if (!live.isEmpty()) {
                int place = random.nextInt(live.size());
                StoredFile file = live.get(place);
                live.set(place, live.getLast());
                live.removeLast();
                model.remove(file.id());
                files.drop(file);
                files.addSsdBlocks(file.ordinal(), -1, -10);
                dead.add(file);
            }
            if (!live.isEmpty()) {
                StoredFile file = live.get(random.nextInt(live.size()));
                assertThat(files.get(file.id())).contains(file);
                assertThat(file.metadata()).isEqualTo(model.get(file.id()));
                assertThat(file.etagDigest()).isEqualTo(model.get(file.id()).etag().map(ETags::digest).orElse(ETags.NONE));
            }
            if (!dead.isEmpty()) {
                StoredFile file = dead.get(random.nextInt(dead.size()));
                assertThat(file.isDropped()).isTrue();
                assertThat(files.get(file.id())).isEmpty();
            }
            assertThat(files.size()).isEqualTo(model.size());
        }
        live.forEach(file -> assertThat(file.metadata()).isEqualTo(model.get(file.id())));
        live.forEach(files::drop);
        live.forEach(file -> files.addSsdBlocks(file.ordinal(), -1, -10));
        assertThat(files.size()).isZero();
        assertThat(files.sharedTexts()).isZero();
    }
}
