package io.cachedhive.protocol.file;

import io.cachedhive.protocol.GoldenValues;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestFileIdentity
{
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.of("http://localhost:9000"), Optional.of("us-east-1"));
    private static final Map<String, IsolationDomain> DOMAINS = domains();

    private static Map<String, IsolationDomain> domains()
    {
        Map<String, IsolationDomain> domains = new LinkedHashMap<>();
        domains.put("domain name finance", IsolationDomain.named("finance"));
        domains.put("access key AKIAIOSFODNN7EXAMPLE", IsolationDomain.ofS3(Map.of("s3.aws-access-key", "AKIAIOSFODNN7EXAMPLE")));
        domains.put("role arn:aws:iam::123456789012:role/reader", IsolationDomain.ofS3(Map.of("s3.iam-role", "arn:aws:iam::123456789012:role/reader")));
        domains.put("anonymous", IsolationDomain.ofS3(Map.of("s3.auth-type", "ANONYMOUS")));
        domains.put("web identity", IsolationDomain.ofS3(Map.of("s3.auth-type", "web-identity")));
        return domains;
    }

    @Test
    void testGoldenValues()
            throws IOException
    {
        GoldenValues golden = GoldenValues.of(TestFileIdentity.class, "identity.txt");
        golden.add("origin s3 http://localhost:9000 us-east-1", ORIGIN);
        golden.add("origin s3", OriginId.of("s3", Optional.empty(), Optional.empty()));
        golden.add("origin s3 https://minio.example.com", OriginId.of("s3", Optional.of("https://minio.example.com"), Optional.empty()));
        for (String domain : DOMAINS.keySet()) {
            golden.add("origin s3 http://localhost:9000 us-east-1 " + domain, inDomain(DOMAINS.get(domain)));
        }
        golden.add("etag \"9bb58f26192e4ba00f01e2e7b136bbd8\"", Long.toHexString(ETags.digest("\"9bb58f26192e4ba00f01e2e7b136bbd8\"")));
        FileVersion file = new FileVersion(ORIGIN, "s3://bucket/warehouse/t/part=1/file.orc", 123_456_789, 1_700_000_000_123L);
        golden.add("file version", file.id());
        golden.add("file version with other letters", new FileVersion(ORIGIN, "s3://bücket/ü/\u65e5.orc", 1, -1).id());
        for (int block : new int[] {0, 1, 2, 255, 1_000_000, Integer.MAX_VALUE}) {
            golden.add("block " + block, file.id().block(block).digest());
        }
        golden.verify();
    }

    @Test
    void testDomainsAreOriginsOfTheirOwn()
    {
        Set<OriginId> ids = new HashSet<>();
        ids.add(ORIGIN);
        DOMAINS.values().forEach(domain -> assertThat(ids.add(inDomain(domain))).describedAs(domain.description()).isTrue());
        assertThat(inDomain(IsolationDomain.NONE)).isEqualTo(ORIGIN);
        assertThat(inDomain(IsolationDomain.named("AKIAIOSFODNN7EXAMPLE"))).describedAs("a name is no access key").isNotIn(ids);
        assertThat(OriginId.of("s3", Optional.of("http://localhost:9000"), Optional.of("us-east-1\nNAME:finance"))).describedAs("a region that imitates a domain").isNotIn(ids);
    }

    @Test
    void testImmutableFileHasNoTime()
    {
        FileVersion immutable = new FileVersion(ORIGIN, "s3://bucket/file.parquet", 1000, FileVersion.IMMUTABLE);
        assertThat(immutable.isImmutable()).isTrue();
        assertThat(immutable.matches(1000, 1_700_000_000_123L)).isTrue();
        assertThat(immutable.matches(1001, FileVersion.IMMUTABLE)).isFalse();

        FileVersion file = new FileVersion(ORIGIN, "s3://bucket/file.parquet", 1000, 1_700_000_000_123L);
        assertThat(file.isImmutable()).isFalse();
        assertThat(file.matches(1000, 1_700_000_000_123L)).isTrue();
        assertThat(file.matches(1000, 1_700_000_000_124L)).isFalse();
        assertThat(file.matches(999, 1_700_000_000_123L)).isFalse();
    }

    private static OriginId inDomain(IsolationDomain domain)
    {
        return OriginId.of("s3", Optional.of("http://localhost:9000"), Optional.of("us-east-1"), domain);
    }

    @Test
    void testDigest()
    {
        // FIPS 180-2, appendix B.1
        Digest128 digest = Digest128.sha256(ByteBuffer.wrap("abc".getBytes(US_ASCII)));
        assertThat(digest.toHex()).isEqualTo("ba7816bf8f01cfea414140de5dae2223");
        assertThat(digest).hasToString(digest.toHex());
        assertThat(Digest128.fromHex(digest.toHex())).isEqualTo(digest);
        assertThat(digest).isEqualByComparingTo(digest).isGreaterThan(new Digest128(1, 2));
        assertThat(new Digest128(1, -1)).isGreaterThan(new Digest128(1, 1));
        assertThatThrownBy(() -> Digest128.fromHex("00")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Digest128.fromBytes(new byte[20], 5)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void testSpellingsOfAnOrigin()
    {
        OriginId origin = OriginId.of("s3", Optional.of("https://minio.example.com"), Optional.of("eu-west-1"));
        assertThat(OriginId.of("S3A", Optional.of("https://MINIO.example.com:443/"), Optional.of(" EU-west-1 "))).isEqualTo(origin);
        assertThat(OriginId.of("s3n", Optional.of("minio.example.com"), Optional.of("eu-west-1"))).isEqualTo(origin);

        assertThat(OriginId.of("s3", Optional.of("http://minio.example.com"), Optional.of("eu-west-1"))).isNotEqualTo(origin);
        assertThat(OriginId.of("s3", Optional.of("https://minio.example.com:9000"), Optional.of("eu-west-1"))).isNotEqualTo(origin);
        assertThat(OriginId.of("s3", Optional.of("https://minio.example.com/path"), Optional.of("eu-west-1"))).isNotEqualTo(origin);
        assertThat(OriginId.of("s3", Optional.of("https://minio.example.com"), Optional.empty())).isNotEqualTo(origin);
        assertThat(OriginId.of("gs", Optional.of("https://minio.example.com"), Optional.of("eu-west-1"))).isNotEqualTo(origin);
        assertThatThrownBy(() -> OriginId.of("s3", Optional.of("http:///path"), Optional.empty())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void testEveryPartOfAFileVersionCounts()
    {
        FileVersion file = new FileVersion(ORIGIN, "s3://bucket/file", 10, 20);
        Set<FileVersionId> ids = new HashSet<>();
        ids.add(file.id());
        ids.add(new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://bucket/file", 10, 20).id());
        ids.add(new FileVersion(ORIGIN, "s3://other/file", 10, 20).id());
        ids.add(new FileVersion(ORIGIN, "s3://bucket/file", 11, 20).id());
        ids.add(new FileVersion(ORIGIN, "s3://bucket/file", 10, 21).id());
        assertThat(ids).hasSize(5);
        assertThat(new FileVersion(ORIGIN, "s3://bucket/file", 10, 20).id()).isEqualTo(file.id());
    }

    @Test
    void testBlocksOfAFile()
    {
        FileVersion file = new FileVersion(ORIGIN, "s3://bucket/file", 2500, 20);
        assertThat(file.blockCount(1000)).isEqualTo(3);
        assertThat(file.blockLength(0, 1000)).isEqualTo(1000);
        assertThat(file.blockLength(2, 1000)).isEqualTo(500);
        assertThatThrownBy(() -> file.blockLength(3, 1000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.blockLength(-1, 1000)).isInstanceOf(IllegalArgumentException.class);
        assertThat(new FileVersion(ORIGIN, "s3://bucket/file", 3000, 20).blockCount(1000)).isEqualTo(3);
        assertThat(new FileVersion(ORIGIN, "s3://bucket/file", 0, 20).blockCount(1000)).isZero();
        assertThatThrownBy(() -> new FileVersion(ORIGIN, "s3://bucket/file", -1, 20)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.id().block(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void testBlocksDoNotMeet()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Set<Digest128> digests = new HashSet<>();
        int count = 0;
        for (int file = 0; file < 50; file++) {
            FileVersionId id = new FileVersion(ORIGIN, "s3://bucket/" + random.nextLong(), random.nextInt(1 << 30), random.nextLong()).id();
            for (int block = 0; block < 2000; block++) {
                digests.add(id.block(block).digest());
                count++;
            }
        }
        assertThat(digests).hasSize(count);
        // each half alone spreads, too: indexes use one of them
        assertThat(digests.stream().map(Digest128::high).distinct().count()).isEqualTo(count);
        assertThat(digests.stream().map(Digest128::low).distinct().count()).isEqualTo(count);
        double ones = digests.stream().mapToInt(digest -> Long.bitCount(digest.high()) + Long.bitCount(digest.low())).average().orElseThrow();
        assertThat(ones).isBetween(63.8, 64.2);
    }

    @Test
    void testWhoseBlock()
    {
        FileVersionId file = new FileVersion(ORIGIN, "s3://bucket/file", 10, 20).id();
        FileVersionId other = new FileVersion(ORIGIN, "s3://bucket/other", 10, 20).id();
        for (int index : new int[] {0, 1, 2, 1000, 123_456_789, Integer.MAX_VALUE - 1}) {
            Digest128 digest = file.block(index).digest();
            assertThat(BlockKey.isOf(file, index + 1, digest)).isTrue();
            assertThat(BlockKey.isOf(file, index, digest)).as("beyond the end").isFalse();
            assertThat(BlockKey.isOf(other, Integer.MAX_VALUE, digest)).isFalse();
            assertThat(BlockKey.isOf(file, Integer.MAX_VALUE, new Digest128(digest.high(), digest.low() + 1))).isFalse();
            assertThat(BlockKey.isOf(file, Integer.MAX_VALUE, new Digest128(digest.high() + 1, digest.low()))).isFalse();
        }
    }

    @Test
    void testETags()
    {
        assertThat(ETags.digest("\"a\"")).isNotEqualTo(ETags.digest("\"b\"")).isNotEqualTo(ETags.NONE);
    }
}
