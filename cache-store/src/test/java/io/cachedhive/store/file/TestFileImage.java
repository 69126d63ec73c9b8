package io.cachedhive.store.file;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestFileImage
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));

    private final FileTable table = new FileTable();
    private final FileImage.Writer writer = new FileImage.Writer(table);

    private static FileMetadata metadata(String location, Optional<String> etag)
    {
        return new FileMetadata(new FileVersion(ORIGIN, location, 100, 1000), etag, true, "schema.table");
    }

    private static StoredFile add(FileTable table, FileMetadata metadata)
    {
        return table.add(metadata.version().id(), metadata);
    }

    private static byte[] bytes(WireWriter writer)
    {
        byte[] bytes = new byte[writer.length()];
        writer.finish().get(bytes);
        return bytes;
    }

    private static WireReader reader(byte[] bytes)
    {
        return new WireReader(ByteBuffer.wrap(bytes));
    }

    @Test
    void tellsWhatTheTableWasTold()
            throws WireException
    {
        List<FileMetadata> all = new ArrayList<>(List.of(
                metadata("s3://bucket/a/b/", Optional.of("")),
                metadata("no slash at all", Optional.of("W/\"weak\"")),
                metadata("", Optional.of("\"0123456789abcdef0123456789abcdef-3\"")),
                metadata("s3://größe/日本/" + "x".repeat(5_000), Optional.of("e".repeat(5000))),
                new FileMetadata(new FileVersion(new OriginId(new Digest128(-1, Long.MIN_VALUE)), "/", 0, -1), Optional.of("\""), false, ""),
                new FileMetadata(new FileVersion(ORIGIN, "//", Long.MAX_VALUE, Long.MIN_VALUE), Optional.of("\""), false, "t")));
        Random random = new Random(1);
        for (int i = 0; i < 1000; i++) {
            String name = new UUID(random.nextLong(), random.nextLong()).toString();
            all.add(metadata("s3://bucket/day=%s/%s.parquet".formatted(i / 10, name), i % 3 == 0 ? Optional.empty() : Optional.of("\"%s\"".formatted(name.replace("-", "")))));
        }
        FileTable other = new FileTable();
        // so that numbers differ
        for (int i = 50; i > 0; i--) {
            add(other, metadata("s3://bucket/day=%s/here".formatted(2 * i), Optional.empty()));
        }
        int files = other.size();
        FileImage.Reader image = new FileImage.Reader(other);
        Map<FileVersionId, StoredFile> added = new HashMap<>();
        for (FileMetadata metadata : all) {
            WireWriter texts = new WireWriter(100);
            WireWriter body = new WireWriter(100);
            StoredFile file = add(table, metadata);
            writer.write(file, texts, body);
            image.readTexts(reader(bytes(texts)));
            WireReader input = reader(bytes(body));
            image.read(input);
            input.expectEnd();
            assertThat(image.ordinal()).isEqualTo(file.ordinal());
            assertThat(image.id()).isEqualTo(file.id());
            assertThat(image.etagDigest()).isEqualTo(metadata.etagDigest());
            assertThat(image.isProvisional()).isEqualTo(metadata.provisional());
            assertThat(image.length()).isEqualTo(metadata.version().length());
            added.put(file.id(), image.add());
        }
        image.finish();
        assertThat(other.size()).isEqualTo(files + all.size());
        for (FileMetadata metadata : all) {
            StoredFile file = added.get(metadata.version().id());
            assertThat(other.get(file.id())).contains(file);
            assertThat(file.metadata()).isEqualTo(new FileMetadata(metadata.version(), metadata.etag(), true, metadata.table()));
            assertThat(file.etagDigest()).isEqualTo(metadata.etagDigest());
        }
        // texts are shared with what was there, and go with the last file that has them
        for (int ordinal = 0; ordinal < other.ordinalLimit(); ordinal++) {
            other.find(ordinal).ifPresent(other::drop);
        }
        assertThat(other.sharedTexts()).isZero();
    }

    @Test
    void textsOfNoFileAreForgotten()
            throws WireException
    {
        WireWriter texts = new WireWriter(100);
        writer.write(add(table, metadata("s3://bucket/file", Optional.empty())), texts, new WireWriter(100));
        FileTable other = new FileTable();
        FileImage.Reader image = new FileImage.Reader(other);
        image.readTexts(reader(bytes(texts)));
        assertThat(other.sharedTexts()).isEqualTo(3);
        image.finish();
        assertThat(other.sharedTexts()).isZero();
    }

    /**
     * Guards against an image in which a number means one text to the first files and another one to the last.
     */
    @Test
    void numbersKeepTheirMeaningWhileHeld()
            throws WireException
    {
        table.holdOrdinals();
        WireWriter texts = new WireWriter(100);
        WireWriter files = new WireWriter(100);
        StoredFile first = add(table, metadata("s3://bucket/first/file", Optional.empty()));
        StoredFile same = add(table, metadata("s3://bucket/first/other", Optional.empty()));
        writer.write(first, texts, files);
        table.drop(first);
        table.drop(same);
        FileMetadata second = metadata("s3://bucket/second/file", Optional.empty());
        writer.write(add(table, second), texts, files);
        table.releaseOrdinals();

        FileTable other = new FileTable();
        FileImage.Reader image = new FileImage.Reader(other);
        image.readTexts(reader(bytes(texts)));
        WireReader input = reader(bytes(files));
        image.read(input);
        image.add();
        image.read(input);
        assertThat(image.add().metadata()).isEqualTo(second);

        // and are used again afterwards
        int before = table.sharedTexts();
        for (int i = 0; i < 100; i++) {
            table.drop(add(table, metadata("s3://bucket/%s/file".formatted(i), Optional.empty())));
        }
        assertThat(table.sharedTexts()).isEqualTo(before);
    }

    @Test
    void believesNothing()
    {
        WireWriter textWriter = new WireWriter(100);
        WireWriter fileWriter = new WireWriter(100);
        writer.write(add(table, metadata("s3://bucket/0123456789abcdef0123456789abcdef", Optional.of("\"etag\""))), textWriter, fileWriter);
        byte[] texts = bytes(textWriter);
        byte[] file = bytes(fileWriter);
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed: " + seed);
        Random random = new Random(seed);
        int accepted = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damagedTexts = texts.clone();
            byte[] damagedFile = file.clone();
            byte[] damaged = random.nextBoolean() ? damagedTexts : damagedFile;
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            FileTable other = new FileTable();
            FileImage.Reader image = new FileImage.Reader(other);
            try {
                image.readTexts(reader(damagedTexts));
                image.read(reader(damagedFile));
                // whatever it is, it can be told
                image.add().metadata();
                accepted++;
            }
            catch (WireException e) {
                // or it is refused
            }
            image.finish();
        }
        assertThat(accepted).isBetween(1000, 19_000);
        for (int length = 0; length < file.length; length++) {
            byte[] cut = Arrays.copyOf(file, length);
            FileImage.Reader image = new FileImage.Reader(new FileTable());
            assertThatThrownBy(() -> {
                image.readTexts(reader(texts));
                image.read(reader(cut));
            }).isInstanceOf(WireException.class);
        }
    }
}
