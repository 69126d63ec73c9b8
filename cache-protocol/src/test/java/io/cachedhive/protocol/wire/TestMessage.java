package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.GoldenValues;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

class TestMessage
{
    private static final OriginId ORIGIN = new OriginId(new Digest128(0x0102030405060708L, 0x1112131415161718L));
    private static final FileVersion FILE = new FileVersion(ORIGIN, "s3://bücket/file", 123_456_789_012L, 1_700_000_000_123L);
    private static final CacheWorkerId WORKER = new CacheWorkerId("worker-1");
    private static final PublishedRing RING = new PublishedRing(
            HashRing.of(List.of(
                    new RingMember(WORKER, 100, Optional.of("zone")),
                    new RingMember(new CacheWorkerId("worker-2"), 200, Optional.empty()))),
            Map.of(WORKER, new WorkerAddress("host", 8484)),
            1_700_000_000_000L);
    private static final StatusMessage.Pong PONG = new StatusMessage.Pong(WORKER, new Digest128(1, 2), "1", "RUNNING", 1L << 40, Optional.of("zone"), 5, 6, new RingEpoch(-7), 8);

    private static final Tombstone TOMBSTONE = new Tombstone(new Digest128(7, 8), ORIGIN, "s3://bucket/table/", 1_700_000_000_000L);

    private static final Pin PIN = new Pin(new Digest128(9, 8), ORIGIN, "s3://bucket/table/day=1/", "schema.table", Optional.of("day=1"), true, 1_700_000_000_000L);

    /**
     * At least one of each type.
     */
    private static final List<Message> MESSAGES = List.of(
            new HandshakeMessage.Hello(1, 2, new byte[] {1, 2, 3}, "cluster", "catalog", "node", List.of(new HandshakeMessage.NamedOrigin("default", ORIGIN))),
            new HandshakeMessage.Hello(1, 1, new byte[0], "", "", "", List.of()),
            new HandshakeMessage.Challenge(1, true, new byte[] {4, 5}, new CacheWorkerId("worker"), List.of(new byte[] {6}, new byte[] {7, 8})),
            new HandshakeMessage.Proof(new byte[] {7, 8, 9}),
            new HandshakeMessage.Welcome(WORKER, new Digest128(-1, Long.MIN_VALUE), 1 << 20, "/dev/shm/cachedhive", true, List.of(OriginStatus.values())),
            new ReadMessage.Read(1, FILE, new ReadMessage.Range(2, 3, 4, 5), true, false, true, new RingEpoch(4), "schema.table"),
            new ReadMessage.Fetching(),
            new ReadMessage.BlockFrame(1, Source.SSD, -2, 3, 4, 5L << 40, 6),
            new BlockBytes(1, Source.REMOTE, 2, new PieceChecksums(65534, 4, new int[] {-3, 5}), ByteBuffer.wrap(new byte[] {1, 2, 3, 4})),
            new BlockBytes(1, Source.RAM, 2, new PieceChecksums(0, 0, new int[0]), ByteBuffer.allocate(0)),
            new ReadMessage.BlockLease(1, 2),
            new ReadMessage.BlockNo(1, NoCause.INVALID_REQUEST),
            new Fill(1, 2, 3, 4, ByteBuffer.wrap(new byte[] {5, 6})),
            new FillMessage.ReleaseLease(1),
            new InvalidationMessage.Revalidate(1, FILE),
            new ControlMessage.Cancel(Long.MAX_VALUE),
            new StatusMessage.Usage(new Digest128(1, 2), 3, Map.of("s.t", Map.of(CounterNames.RAM_HIT_BYTES, 4L)), List.of(new Digest128(5, 6), new Digest128(7, 8))),
            new StatusMessage.Ping(),
            PONG,
            new RingMessage.PublishRing(RING),
            new RingMessage.GetRings(),
            new RingMessage.Rings(List.of(RING, new PublishedRing(HashRing.of(List.of()), Map.of(), 1))),
            new StatusMessage.GetStats(),
            new StatusMessage.Stats(PONG, 1, Optional.of("a problem"), Map.of("requests", 2L), Map.of("ram_blocks", 3L)),
            new PreloadMessage.Preload(1, FILE, 2, 3, new RingEpoch(4), "schema.table"),
            new PreloadMessage.Preloaded(1, 2, 3, Optional.empty()),
            new PreloadMessage.FetchAhead(1, new Digest128(2, 3), "schema.table", List.of(FILE, FILE)),
            new ControlMessage.Ack(),
            new ControlMessage.Error("it is so"),
            new FillMessage.OfferGuest(1, FILE, 2, "s.t", 3, 4, ByteBuffer.wrap(new byte[] {5, 6})),
            new HandshakeMessage.ChunkSize(512 << 20),
            new HandOverMessage.Describe(FILE.id(), 2, 3),
            new HandOverMessage.Description(
                    true,
                    Optional.of("etag"),
                    "schema.table",
                    List.of(new HandOverMessage.DescribedBlock(2, 1, 5), new HandOverMessage.DescribedBlock(3, 0, 0xFFFF_FFFFL))),
            HandOverMessage.Description.UNKNOWN,
            new HandOverMessage.HandOver(
                    new CacheWorkerId("leaving"),
                    List.of(new HandOverMessage.FileBlocks(FILE, List.of(3, 1)), new HandOverMessage.FileBlocks(FILE, List.of()))),
            new HandOverMessage.HandedOver(2),
            new PolicyMessage.OnTerms(
                    new FillTerms(Optional.of(FillClass.PINNED), OptionalLong.of(5000)),
                    new ReadMessage.Read(1, FILE, new ReadMessage.Range(2, 3, 4, 5), true, false, true, new RingEpoch(4), "schema.table")),
            new PolicyMessage.OnTerms(FillTerms.UNSPECIFIED, new PreloadMessage.FetchAhead(1, new Digest128(2, 3), "schema.table", List.of(FILE))),
            new PolicyMessage.Reclassify(FillClass.HIGH, List.of(new Digest128(1, 2))),
            new PolicyMessage.TableQuota("schema.table", 100L << 30),
            new InvalidationMessage.Quarantine(1, FILE, 1L << 40, 8 << 20),
            new InvalidationMessage.Flush(List.of(TOMBSTONE, TOMBSTONE), true),
            new InvalidationMessage.Flushed(3, Optional.of("a problem")),
            new InvalidationMessage.GetTombstones(new Digest128(1, 2), new Digest128(3, 4)),
            new InvalidationMessage.Tombstones(new Digest128(1, 2), List.of(TOMBSTONE)),
            new ListingMessage.GetFiles(3, 5L << 60),
            new ListingMessage.Files(true, List.of(new ListingMessage.ListedFile(FILE, "schema.table", 1, 2, 3, 2, 0xFFFF_FFFFL))),
            new PinMessage.SetPins(List.of(PIN, PIN)),
            new PinMessage.GetPins(new Digest128(1, 2), new Digest128(3, 4), true),
            new PinMessage.Pins(new Digest128(1, 2), List.of(new PinMessage.PinState(PIN, 1L << 40, 5))),
            new StatusMessage.GetTables("s.t"),
            new StatusMessage.Tables(List.of(new StatusMessage.CountedTable("s.t", Map.of("requests", 2L))), true),
            new InvalidationMessage.ReleaseFiles(1, List.of("s3://lake/t/", "s3://lake/u/file")),
            new StatusMessage.ReportProblem("a problem"));

    @Test
    void testEveryTypeIsHere()
    {
        Set<MessageType> types = EnumSet.noneOf(MessageType.class);
        MESSAGES.forEach(message -> types.add(message.type()));
        assertThat(types).containsExactly(MessageType.values());
        assertThat(Arrays.stream(Message.class.getPermittedSubclasses()).flatMap(family -> Arrays.stream(family.getPermittedSubclasses())))
                .hasSize(MessageType.values().length);
    }

    @Test
    void testRoundTrip()
            throws IOException
    {
        for (Message message : MESSAGES) {
            ByteBuffer frame = message.toFrame(77);
            byte[] bytes = bytes(frame);
            FrameHeader header = FrameHeader.readFrom(frame, FrameHeader.MAX_BODY_BYTES);
            assertThat(header).isEqualTo(new FrameHeader(bytes.length - FrameHeader.BYTES, message.type(), 77));
            Message read = Message.read(header.type(), frame);
            assertThat(read).usingRecursiveComparison().isEqualTo(message);
            assertThat(bytes(read.toFrame(77))).isEqualTo(bytes);
        }
    }

    @Test
    void testGoldenFrames()
            throws IOException
    {
        GoldenValues golden = GoldenValues.of(TestMessage.class, "frames.txt");
        int number = 0;
        for (Message message : MESSAGES) {
            golden.add("%s %s".formatted(number++, message.type()), HexFormat.of().formatHex(bytes(message.toFrame(0x0102030405060708L))));
        }
        golden.verify();
    }

    @Test
    void testGoldenCodes()
            throws IOException
    {
        GoldenValues golden = GoldenValues.of(TestMessage.class, "codes.txt");
        for (MessageType type : MessageType.values()) {
            golden.add("type " + type, type.code());
        }
        for (NoCause cause : NoCause.values()) {
            golden.add("cause " + cause, cause.ordinal());
        }
        for (Source source : Source.values()) {
            golden.add("source " + source, source.ordinal());
        }
        for (FillClass fillClass : FillClass.values()) {
            golden.add("class " + fillClass, fillClass.ordinal());
        }
        for (OriginStatus status : OriginStatus.values()) {
            golden.add("origin status " + status, status.ordinal());
        }
        golden.verify();
    }

    @Test
    void testMessageThatDoesNotFitIntoAFrame()
    {
        int overhead = Integer.BYTES;
        new ControlMessage.Error("x".repeat(FrameHeader.MAX_BODY_BYTES - overhead)).toFrame(1);
        assertThatThrownBy(() -> new ControlMessage.Error("x".repeat(FrameHeader.MAX_BODY_BYTES - overhead + 1)).toFrame(1))
                .isInstanceOf(FrameTooLargeException.class)
                .hasMessage("ERROR message has 8454145 bytes, and a frame has at most 8454144");
    }

    @Test
    void testUsageIsBounded()
    {
        Map<String, Map<String, Long>> counters = new HashMap<>();
        for (int i = 0; i < StatusMessage.Usage.MAX_TABLES; i++) {
            counters.put("s.t" + i, Map.of("requests", 1L));
        }
        assertThat(new StatusMessage.Usage(new Digest128(1, 2), 1, counters, List.of()).counters()).hasSize(1024);
        counters.put("one more", Map.of());
        assertThatThrownBy(() -> new StatusMessage.Usage(new Digest128(1, 2), 1, counters, List.of())).hasMessage("more than 1024 tables at once: 1025");
        List<Digest128> hits = Collections.nCopies(StatusMessage.Usage.MAX_HITS + 1, new Digest128(1, 1));
        assertThatThrownBy(() -> new StatusMessage.Usage(new Digest128(1, 2), 1, Map.of(), hits)).hasMessage("more than 16384 hits at once: 16385");
        assertThatThrownBy(() -> new StatusMessage.Usage(new Digest128(1, 2), 1, Map.of("x".repeat(1025), Map.of()), List.of()))
                .hasMessage("name of a table has more than 1024 characters: 1025");
        assertThatThrownBy(() -> new StatusMessage.Tables(List.of(), true)).hasMessage("page without a table is not the last one");
    }

    @Test
    void testOnlyWhatFillsBlocksHasTerms()
    {
        assertThatThrownBy(() -> new PolicyMessage.OnTerms(FillTerms.UNSPECIFIED, new StatusMessage.Ping()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("PING fills no blocks");
        ByteBuffer ping = ByteBuffer.wrap(new byte[] {0, 0, MessageType.PING.code()});
        assertThatThrownBy(() -> Message.read(MessageType.ON_TERMS, ping)).isInstanceOf(WireException.class).hasMessage("PING message is not one that fills blocks");
        ByteBuffer unknownClass = ByteBuffer.wrap(new byte[] {1, 3, 0, MessageType.PING.code()});
        assertThatThrownBy(() -> Message.read(MessageType.ON_TERMS, unknownClass)).isInstanceOf(WireException.class).hasMessage("unknown class: 3");
    }

    @Test
    void testQuotaOfATableTravelsByItself()
    {
        ReadMessage.Read read = new ReadMessage.Read(1, FILE, new ReadMessage.Range(2, 3, 4, 5), true, false, true, new RingEpoch(4), "schema.table");
        FillTerms terms = new FillTerms(Optional.of(FillClass.HIGH), OptionalLong.of(5), OptionalLong.of(6));
        assertThat(new PolicyMessage.OnTerms(terms, read)).isEqualTo(new PolicyMessage.OnTerms(new FillTerms(Optional.of(FillClass.HIGH), OptionalLong.of(5)), read));
        assertThatThrownBy(() -> new FillTerms(Optional.empty(), OptionalLong.empty(), OptionalLong.of(-1))).isInstanceOf(IllegalArgumentException.class);
        ByteBuffer negative = new WireWriter(100).putString("schema.table").putLong(-1).finish();
        assertThatThrownBy(() -> Message.read(MessageType.TABLE_QUOTA, negative)).isInstanceOf(WireException.class)
                .hasMessage("TABLE_QUOTA message is not valid: quota is negative: -1");
    }

    /**
     * The limit holds before the members are read, because a ring computes a digest for each of them.
     */
    @Test
    void testMembersOfARing()
    {
        byte[] noMembers = new byte[PublishedRing.MAX_MEMBERS + 1];
        Arrays.fill(noMembers, (byte) 255);
        ByteBuffer tooMany = new WireWriter(100).putLong(1).putInt(PublishedRing.MAX_MEMBERS + 1).putRest(ByteBuffer.wrap(noMembers)).finish();
        for (MessageType type : List.of(MessageType.PUBLISH_RING, MessageType.RINGS)) {
            ByteBuffer body = type == MessageType.RINGS ? new WireWriter(100).putInt(1).putRest(tooMany.duplicate()).finish() : tooMany.duplicate();
            assertThatThrownBy(() -> Message.read(type, body)).as(type.name()).isInstanceOf(WireException.class)
                    .hasMessage("list has 4097 elements, at most 4096 are allowed");
        }
        HashRing ring = HashRing.of(IntStream.range(0, PublishedRing.MAX_MEMBERS + 1)
                .mapToObj(index -> new RingMember(new CacheWorkerId("worker-" + index), 1, Optional.empty()))
                .toList());
        assertThatThrownBy(() -> new PublishedRing(ring, Map.of(), 1)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ring has 4097 members, at most 4096 are allowed");
        CacheWorkerId last = ring.members().getLast().id();
        new PublishedRing(ring.restrictedTo(member -> !member.id().equals(last)), Map.of(), 1);
    }

    @Test
    void testPrefixOfABlock()
    {
        BlockBytes block = new BlockBytes(1, Source.SSD, 2, new PieceChecksums(65535, 3, new int[] {7, 8}), ByteBuffer.wrap(new byte[] {4, 5, 6}));
        ByteBuffer frame = block.toFrame(9);
        ByteBuffer prefix = block.toFramePrefix(9);
        assertThat(prefix.remaining()).isEqualTo(frame.remaining() - 3);
        assertThat(prefix).isEqualTo(frame.slice(0, prefix.remaining()));
        assertThat(block.payload().remaining()).isEqualTo(3);
    }

    @Test
    void testBytesOfABlockMatchTheirDescription()
            throws Exception
    {
        // two thousand million bytes; a range beyond any block; one checksum or one byte more or fewer than the range has
        int[][] ranges = {
                {0, Integer.MAX_VALUE, 2, 3},
                {Integer.MAX_VALUE, 1, 1, 1},
                {-1, 1, 1, 1},
                {0, -1, 0, 0},
                {8 << 20, 1, 1, 1},
                {65534, 4, 1, 4},
                {65534, 4, 3, 4},
                {0, 4, 1, 3},
                {0, 4, 1, 5}};
        for (int[] range : ranges) {
            WireWriter writer = new WireWriter(100).putInt(1).putByte(0).putLong(2).putInt(range[0]).putInt(range[1]);
            for (int i = 0; i < range[2]; i++) {
                writer.putInt(0);
            }
            ByteBuffer body = writer.putRest(ByteBuffer.allocate(range[3])).finish();
            assertThatThrownBy(() -> Message.read(MessageType.BLOCK_BYTES, body.duplicate())).as(Arrays.toString(range)).isInstanceOf(WireException.class);
        }
        // the description comes in any number of parts
        BlockBytes block = new BlockBytes(1, Source.SSD, 2, new PieceChecksums(65535, 3, new int[] {7, 8}), ByteBuffer.wrap(new byte[] {4, 5, 6}));
        byte[] body = bytes(body(block));
        for (int length = 0; length <= body.length; length++) {
            ByteBuffer received = ByteBuffer.wrap(body, 0, length);
            Optional<BlockBytes> prefix = BlockBytes.readPrefix(received, body.length);
            assertThat(prefix.isPresent()).as("after %s bytes", length).isEqualTo(length >= body.length - 3);
            prefix.ifPresent(read -> {
                assertThat(read).isEqualTo(new BlockBytes(1, Source.SSD, 2, block.checksums(), ByteBuffer.allocate(0)));
                assertThat(received.position()).isEqualTo(body.length - 3);
            });
        }
    }

    @Test
    void testTruncated()
    {
        for (Message message : MESSAGES) {
            ByteBuffer body = body(message);
            boolean endsWithPayload = endsWithPayload(message);
            for (int length = 0; length < body.remaining(); length++) {
                ByteBuffer truncated = body.slice(0, length);
                try {
                    Message.read(message.type(), truncated);
                    assertThat(endsWithPayload).describedAs("%s of %s bytes of %s", length, body.remaining(), message).isTrue();
                }
                catch (WireException e) {
                    assertThat(e.getMessage()).isNotBlank();
                }
            }
        }
    }

    private static boolean endsWithPayload(Message message)
    {
        return message instanceof Fill || message instanceof FillMessage.OfferGuest;
    }

    @Test
    void testBytesAfterTheEnd()
    {
        for (Message message : MESSAGES) {
            if (endsWithPayload(message)) {
                continue;
            }
            ByteBuffer body = body(message);
            ByteBuffer longer = ByteBuffer.allocate(body.remaining() + 1).put(body).rewind();
            assertThatThrownBy(() -> Message.read(message.type(), longer)).isInstanceOf(WireException.class);
        }
    }

    @Test
    void testMutated()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 200_000; i++) {
            Message message = MESSAGES.get(random.nextInt(MESSAGES.size()));
            byte[] body = bytes(body(message));
            for (int j = random.nextInt(4); j >= 0 && body.length > 0; j--) {
                int at = random.nextInt(body.length);
                body[at] = switch (random.nextInt(4)) {
                    case 0 -> (byte) random.nextInt();
                    case 1 -> (byte) (body[at] ^ (1 << random.nextInt(8)));
                    case 2 -> body[random.nextInt(body.length)];
                    default -> (byte) (random.nextBoolean() ? 0 : -1);
                };
            }
            readOrRefuse(message.type(), body, seed);
        }
    }

    @Test
    void testGarbage()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 100_000; i++) {
            byte[] body = new byte[random.nextInt(200)];
            random.nextBytes(body);
            // small numbers get further into a message than large ones
            if (random.nextBoolean()) {
                for (int j = 0; j < body.length; j++) {
                    body[j] = (byte) (random.nextInt(8) == 0 ? random.nextInt(4) : 0);
                }
            }
            readOrRefuse(MessageType.values()[random.nextInt(MessageType.values().length)], body, seed);
        }
    }

    private static void readOrRefuse(MessageType type, byte[] body, long seed)
    {
        try {
            Message.read(type, ByteBuffer.wrap(body));
        }
        catch (WireException e) {
            // as it shall be
        }
        catch (RuntimeException | Error e) {
            fail("seed %s: %s of %s".formatted(seed, type, HexFormat.of().formatHex(body)), e);
        }
    }

    @Test
    void testTheSameTwice()
    {
        // what a map cannot hold
        WireWriter usage = new WireWriter(100).putLong(1).putLong(2).putLong(3).putInt(2);
        for (int i = 0; i < 2; i++) {
            usage.putString("s.t").putInt(0);
        }
        usage.putInt(0);
        assertThatThrownBy(() -> Message.read(MessageType.USAGE, usage.finish())).isInstanceOf(WireException.class).hasMessageContaining("s.t");

        WireWriter ring = new WireWriter(100).putLong(1).putInt(2);
        for (int i = 0; i < 2; i++) {
            ring.putString("worker").putLong(5).putBoolean(false).putBoolean(true).putString("host").putInt(1);
        }
        assertThatThrownBy(() -> Message.read(MessageType.PUBLISH_RING, ring.finish())).isInstanceOf(WireException.class).hasMessageContaining("worker");
    }

    @Test
    void testLengthsAreNotBelieved()
    {
        // two thousand million bytes, elements, or minus one of them
        for (int length : new int[] {Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            ByteBuffer error = new WireWriter(8).putInt(length).finish();
            assertThatThrownBy(() -> Message.read(MessageType.ERROR, error)).isInstanceOf(WireException.class);
            ByteBuffer rings = new WireWriter(8).putInt(length).finish();
            assertThatThrownBy(() -> Message.read(MessageType.RINGS, rings)).isInstanceOf(WireException.class);
        }
    }

    @Test
    void testForeignProtocol()
    {
        assertThatThrownBy(() -> Message.read(MessageType.HELLO, ByteBuffer.wrap("GET / HTTP/1.1\r\n".getBytes(UTF_8))))
                .isInstanceOf(WireException.class)
                .hasMessageContaining("does not speak this protocol");
    }

    @Test
    void testFrameHeader()
    {
        byte[] header = bytes(new StatusMessage.Ping().toFrame(1));
        assertThat(header).hasSize(FrameHeader.BYTES);
        assertThatThrownBy(() -> FrameHeader.readFrom(ByteBuffer.wrap(with(header, 4, 99)), 100)).isInstanceOf(WireException.class).hasMessage("unknown message type: 99");
        assertThatThrownBy(() -> FrameHeader.readFrom(ByteBuffer.wrap(with(header, 4, -1)), 100)).isInstanceOf(WireException.class);
        for (int reserved = 5; reserved < 8; reserved++) {
            byte[] wrong = with(header, reserved, 1);
            assertThatThrownBy(() -> FrameHeader.readFrom(ByteBuffer.wrap(wrong), 100)).isInstanceOf(WireException.class).hasMessageContaining("not zero");
        }
        assertThatThrownBy(() -> FrameHeader.readFrom(ByteBuffer.wrap(with(header, 0, 101)), 100)).isInstanceOf(WireException.class).hasMessageContaining("between 0 and 100");
        assertThatThrownBy(() -> FrameHeader.readFrom(ByteBuffer.wrap(with(header, 3, -1)), 100)).isInstanceOf(WireException.class);
    }

    private static byte[] with(byte[] bytes, int index, int value)
    {
        byte[] changed = bytes.clone();
        changed[index] = (byte) value;
        return changed;
    }

    private static ByteBuffer body(Message message)
    {
        ByteBuffer frame = message.toFrame(1);
        return frame.slice(FrameHeader.BYTES, frame.remaining() - FrameHeader.BYTES);
    }

    private static byte[] bytes(ByteBuffer buffer)
    {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
