package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;

/**
 * What cache workers and their clients say to each other.
 *
 * <p>A connection begins with {@link Hello}, {@link Challenge}, {@link Proof}, {@link Welcome}, the same over a Unix socket (where the
 * file's permissions decide who may speak, and no secret is asked for) and over TCP. After that the client sends requests in any number at once,
 * and answers come in any order, matched by the frame's request id.
 */
public sealed interface Message
{
    /**
     * The newest protocol version that this code speaks, and the oldest that it still speaks.
     */
    int MAX_VERSION = 2;
    int MIN_VERSION = 1;

    MessageType type();

    void writeTo(WireWriter writer);

    /**
     * The whole frame, header and body, ready to be sent.
     */
    default ByteBuffer toFrame(long requestId)
    {
        WireWriter writer = new WireWriter(256);
        // room for the header, which needs the body's length
        writer.putLong(0).putLong(0);
        writeTo(writer);
        ByteBuffer frame = writer.finish();
        new FrameHeader(frame.remaining() - FrameHeader.BYTES, type(), requestId).writeTo(frame.duplicate());
        return frame;
    }

    static Message read(MessageType type, ByteBuffer body)
            throws WireException
    {
        WireReader reader = new WireReader(body);
        Message message;
        try {
            message = switch (type) {
                case HELLO -> Hello.read(reader);
                case CHALLENGE -> Challenge.read(reader);
                case PROOF -> Proof.read(reader);
                case WELCOME -> Welcome.read(reader);
                case READ -> Read.read(reader);
                case FETCHING -> Fetching.read(reader);
                case BLOCK_FRAME -> BlockFrame.read(reader);
                case BLOCK_BYTES -> BlockBytes.read(reader);
                case BLOCK_LEASE -> BlockLease.read(reader);
                case BLOCK_NO -> BlockNo.read(reader);
                case FILL -> Fill.read(reader);
                case RELEASE_LEASE -> ReleaseLease.read(reader);
                case REVALIDATE -> Revalidate.read(reader);
                case QUARANTINE -> Quarantine.read(reader);
                case CANCEL -> Cancel.read(reader);
                case USAGE -> Usage.read(reader);
                case OFFER_GUEST -> OfferGuest.read(reader);
                case CHUNK_SIZE -> ChunkSize.read(reader);
                case ON_TERMS -> OnTerms.read(reader);
                case RECLASSIFY -> Reclassify.read(reader);
                case TABLE_QUOTA -> TableQuota.read(reader);
                case PING -> Ping.read(reader);
                case PONG -> Pong.read(reader);
                case PUBLISH_RING -> PublishRing.read(reader);
                case GET_RINGS -> GetRings.read(reader);
                case RINGS -> Rings.read(reader);
                case GET_STATS -> GetStats.read(reader);
                case STATS -> Stats.read(reader);
                case PRELOAD -> Preload.read(reader);
                case PRELOADED -> Preloaded.read(reader);
                case FETCH_AHEAD -> FetchAhead.read(reader);
                case DESCRIBE -> Describe.read(reader);
                case DESCRIPTION -> Description.read(reader);
                case HAND_OVER -> HandOver.read(reader);
                case HANDED_OVER -> HandedOver.read(reader);
                case FLUSH -> Flush.read(reader);
                case FLUSHED -> Flushed.read(reader);
                case GET_TOMBSTONES -> GetTombstones.read(reader);
                case TOMBSTONES -> Tombstones.read(reader);
                case GET_FILES -> GetFiles.read(reader);
                case FILES -> Files.read(reader);
                case SET_PINS -> SetPins.read(reader);
                case GET_PINS -> GetPins.read(reader);
                case PINS -> Pins.read(reader);
                case ACK -> Ack.read(reader);
                case ERROR -> Error.read(reader);
            };
        }
        catch (IllegalArgumentException | IllegalStateException | ArithmeticException e) {
            // from the constructors of what it holds, and from maps that are given a key twice
            throw new WireException("%s message is not valid: %s".formatted(type, e.getMessage()));
        }
        reader.expectEnd();
        return message;
    }

    /**
     * The first message of a client.
     *
     * @param cluster the Trino cluster: its counters are kept apart
     * @param catalog the catalog: its counters are kept apart; empty for clients that are not a catalog
     * @param node the Trino node
     * @param origins the origins that the client's reads name, by their place in this list
     */
    record Hello(int minVersion, int maxVersion, byte[] nonce, String cluster, String catalog, String node, List<NamedOrigin> origins)
            implements Message
    {
        private static final int MAGIC = 0x56494843; // CHIV

        @Override
        public MessageType type()
        {
            return MessageType.HELLO;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(MAGIC).putInt(minVersion).putInt(maxVersion).putBytes(nonce).putString(cluster).putString(catalog).putString(node)
                    .putList(origins, (out, origin) -> {
                        out.putString(origin.name());
                        writeDigest(out, origin.id().digest());
                    });
        }

        static Hello read(WireReader reader)
                throws WireException
        {
            int magic = reader.getInt();
            if (magic != MAGIC) {
                throw new WireException("the peer does not speak this protocol: its first bytes are 0x%08x".formatted(magic));
            }
            return new Hello(
                    reader.getInt(),
                    reader.getInt(),
                    reader.getBytes(),
                    reader.getString(),
                    reader.getString(),
                    reader.getString(),
                    reader.getList(in -> new NamedOrigin(in.getString(), new OriginId(readDigest(in)))));
        }
    }

    /**
     * An origin as a catalog names it ({@code cachedhive.origin}).
     */
    record NamedOrigin(String name, OriginId id) {}

    /**
     * @param version the version to speak
     * @param proofRequired whether the client has to prove that it knows the shared secret
     * @param proof the server's own proof; empty without a secret
     */
    record Challenge(int version, boolean proofRequired, byte[] nonce, byte[] proof)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.CHALLENGE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(version).putBoolean(proofRequired).putBytes(nonce).putBytes(proof);
        }

        static Challenge read(WireReader reader)
                throws WireException
        {
            return new Challenge(reader.getInt(), reader.getBoolean(), reader.getBytes(), reader.getBytes());
        }
    }

    /**
     * @param proof empty if none is required
     */
    record Proof(byte[] proof)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PROOF;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putBytes(proof);
        }

        static Proof read(WireReader reader)
                throws WireException
        {
            return new Proof(reader.getBytes());
        }
    }

    /**
     * The connection stands.
     *
     * @param instance names this run of the worker's process
     * @param memoryFile the absolute path of the shared-memory file; empty over TCP, or when the worker has no RAM tier
     * @param keepsGuests whether an {@link OfferGuest} can be of use: whether any share of the RAM tier is for guests
     * @param origins in the order of {@link Hello#origins}
     */
    record Welcome(CacheWorkerId worker, Digest128 instance, int blockSizeBytes, String memoryFile, boolean keepsGuests, List<OriginStatus> origins)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.WELCOME;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(worker.value());
            writeDigest(writer, instance);
            writer.putInt(blockSizeBytes).putString(memoryFile).putBoolean(keepsGuests).putList(origins, (out, status) -> out.putByte(status.ordinal()));
        }

        static Welcome read(WireReader reader)
                throws WireException
        {
            return new Welcome(
                    new CacheWorkerId(reader.getString()),
                    readDigest(reader),
                    reader.getInt(),
                    reader.getString(),
                    reader.getBoolean(),
                    reader.getList(OriginStatus::read));
        }
    }

    /**
     * Asks for blocks of a file. Each block is answered by one of {@link BlockFrame}, {@link BlockBytes}, {@link BlockLease}, {@link BlockNo};
     * a {@link Fetching} may come before.
     *
     * @param origin the place of the file's origin in {@link Hello#origins}
     * @param inline whether the bytes are wanted in the answer (always over TCP) or a frame in shared memory
     * @param mayFill whether blocks that are missing shall be fetched and kept
     * @param mayLease whether the client is ready to read a block that the worker cannot fetch, and to offer its bytes
     * @param epoch of the ring by which the client chose this worker
     * @param table {@code schema.table}, for the counters and the policy
     */
    record Read(
            int origin,
            FileVersion file,
            int firstBlock,
            int blockCount,
            boolean inline,
            boolean mayFill,
            boolean mayLease,
            RingEpoch epoch,
            String table)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.READ;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeFile(writer, file);
            writer.putInt(firstBlock).putInt(blockCount).putBoolean(inline).putBoolean(mayFill).putBoolean(mayLease).putLong(epoch.value()).putString(table);
        }

        static Read read(WireReader reader)
                throws WireException
        {
            return new Read(
                    reader.getInt(),
                    readFile(reader),
                    reader.getInt(),
                    reader.getInt(),
                    reader.getBoolean(),
                    reader.getBoolean(),
                    reader.getBoolean(),
                    new RingEpoch(reader.getLong()),
                    reader.getString());
        }
    }

    /**
     * Some of the blocks of a read have to come from the origin: the answer will take the origin's time. Sent at most once a read.
     */
    record Fetching()
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.FETCHING;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Fetching read(WireReader reader)
        {
            return new Fetching();
        }
    }

    /**
     * The block is in a frame of shared memory. Valid as long as the frame has this generation: at least 100 ms.
     *
     * @param block its index in the file
     * @param frame the frame's number
     * @param frameOffset bytes from the start of the shared-memory file
     */
    record BlockFrame(int block, Source source, long etagDigest, int length, int frame, long frameOffset, long generation)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_FRAME;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putByte(source.ordinal()).putLong(etagDigest).putInt(length).putInt(frame).putLong(frameOffset).putLong(generation);
        }

        static BlockFrame read(WireReader reader)
                throws WireException
        {
            return new BlockFrame(reader.getInt(), Source.read(reader), reader.getLong(), reader.getInt(), reader.getInt(), reader.getLong(), reader.getLong());
        }
    }

    /**
     * The block's bytes.
     *
     * @param block its index in the file
     * @param checksum CRC32C of the payload, verified by the client on its own copy
     */
    record BlockBytes(int block, Source source, long etagDigest, int checksum, ByteBuffer payload)
            implements Message
    {
        /**
         * Bytes of the body before the payload, for senders that gather the payload from where it lies.
         */
        public static final int PREFIX_BYTES = 4 + 1 + 8 + 4;

        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_BYTES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writePrefix(writer);
            writer.putRest(payload);
        }

        private void writePrefix(WireWriter writer)
        {
            writer.putInt(block).putByte(source.ordinal()).putLong(etagDigest).putInt(checksum);
        }

        /**
         * Header and prefix only: to be followed by the payload itself.
         */
        public ByteBuffer toFramePrefix(long requestId)
        {
            WireWriter writer = new WireWriter(FrameHeader.BYTES + PREFIX_BYTES);
            writer.putLong(0).putLong(0);
            writePrefix(writer);
            ByteBuffer prefix = writer.finish();
            new FrameHeader(PREFIX_BYTES + payload.remaining(), type(), requestId).writeTo(prefix.duplicate());
            return prefix;
        }

        static BlockBytes read(WireReader reader)
                throws WireException
        {
            return new BlockBytes(reader.getInt(), Source.read(reader), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }

    /**
     * The worker cannot fetch the block, and this client is the one to read it from the origin: it sends {@link Fill} or {@link ReleaseLease}.
     */
    record BlockLease(int block, long lease)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_LEASE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putLong(lease);
        }

        static BlockLease read(WireReader reader)
                throws WireException
        {
            return new BlockLease(reader.getInt(), reader.getLong());
        }
    }

    record BlockNo(int block, NoCause cause)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.BLOCK_NO;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(block).putByte(cause.ordinal());
        }

        static BlockNo read(WireReader reader)
                throws WireException
        {
            return new BlockNo(reader.getInt(), NoCause.read(reader));
        }
    }

    /**
     * The bytes of a leased block, read by the client through Trino's own file system. Answered by {@link Ack} or {@link Error}.
     *
     * @param observedLength the file's length, asked anew after the bytes were read
     * @param observedLastModifiedMillis likewise
     * @param checksum CRC32C of the payload
     */
    record Fill(long lease, long observedLength, long observedLastModifiedMillis, int checksum, ByteBuffer payload)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.FILL;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(lease).putLong(observedLength).putLong(observedLastModifiedMillis).putInt(checksum);
            writer.putRest(payload);
        }

        static Fill read(WireReader reader)
                throws WireException
        {
            return new Fill(reader.getLong(), reader.getLong(), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }

    /**
     * A block that another worker had, for the worker of the client's host to keep as a guest. Not answered: the worker takes it or not.
     *
     * @param origin the place of the file's origin in {@link Hello#origins}
     * @param etagDigest as the worker that had it told it
     * @param checksum CRC32C of the payload
     */
    record OfferGuest(int origin, FileVersion file, int block, String table, long etagDigest, int checksum, ByteBuffer payload)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.OFFER_GUEST;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeFile(writer, file);
            writer.putInt(block).putString(table).putLong(etagDigest).putInt(checksum);
            writer.putRest(payload);
        }

        static OfferGuest read(WireReader reader)
                throws WireException
        {
            return new OfferGuest(reader.getInt(), readFile(reader), reader.getInt(), reader.getString(), reader.getLong(), reader.getInt(), reader.getRest());
        }
    }

    /**
     * The client gives the lease back without bytes. Not answered.
     */
    record ReleaseLease(long lease)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.RELEASE_LEASE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(lease);
        }

        static ReleaseLease read(WireReader reader)
                throws WireException
        {
            return new ReleaseLease(reader.getLong());
        }
    }

    /**
     * A reader saw two ETags in one file version: the worker asks the origin which of them is true, and drops the file version if
     * its own is not. Answered by {@link Ack} when done.
     */
    record Revalidate(int origin, FileVersion file)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.REVALIDATE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeFile(writer, file);
        }

        static Revalidate read(WireReader reader)
                throws WireException
        {
            return new Revalidate(reader.getInt(), readFile(reader));
        }
    }

    /**
     * A reader found that the origin has other bytes in a range than the worker gave, while the file is the same: the worker drops the file version with all its
     * blocks. Answered by {@link Ack} when it is durable.
     *
     * @param position bytes from the start of the file
     * @param length bytes
     */
    record Quarantine(int origin, FileVersion file, long position, long length)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        @Override
        public MessageType type()
        {
            return MessageType.QUARANTINE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeFile(writer, file);
            writer.putLong(position).putLong(length);
        }

        static Quarantine read(WireReader reader)
                throws WireException
        {
            return new Quarantine(reader.getInt(), readFile(reader), reader.getLong(), reader.getLong());
        }
    }

    /**
     * The client no longer waits for the answer to the request. Not answered itself; answers already under way still come.
     */
    record Cancel(long request)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.CANCEL;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(request);
        }

        static Cancel read(WireReader reader)
                throws WireException
        {
            return new Cancel(reader.getLong());
        }
    }

    /**
     * What a client counted since the last batch, and the blocks that it read from shared memory (for their recency). Answered by {@link Ack};
     * a client that got no answer sends the same batch again, and the worker counts it once.
     *
     * @param client names the sending catalog instance of one JVM for as long as it lives
     * @param batch 1, 2, 3, ...: a batch that is not above the last one counted is acknowledged and ignored
     * @param counters by table ({@code schema.table}), each a map from a name of {@link CounterNames} to what is to be added
     */
    record Usage(Digest128 client, long batch, Map<String, Map<String, Long>> counters, List<Digest128> hits)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.USAGE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, client);
            writer.putLong(batch)
                    .putList(counters.entrySet(), (out, entry) -> out.putString(entry.getKey()).putCounters(entry.getValue()))
                    .putList(hits, Message::writeDigest);
        }

        static Usage read(WireReader reader)
                throws WireException
        {
            return new Usage(
                    readDigest(reader),
                    reader.getLong(),
                    reader.getList(in -> Map.entry(in.getString(), in.getCounters())).stream().collect(toMap(Map.Entry::getKey, Map.Entry::getValue)),
                    reader.getList(Message::readDigest));
        }
    }

    /**
     * By which size the client finds the owners of the files of its origins, so that the worker can tell who owned a block before it. Said once, before all requests. Not answered.
     */
    record ChunkSize(long bytes)
            implements Message
    {
        public ChunkSize
        {
            if (bytes <= 0) {
                throw new IllegalArgumentException("chunk size is not positive: " + bytes);
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.CHUNK_SIZE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(bytes);
        }

        static ChunkSize read(WireReader reader)
                throws WireException
        {
            return new ChunkSize(reader.getLong());
        }
    }

    /**
     * A request that fills blocks, and says how they are to be kept. Answered as the request by itself, which leaves that to the worker.
     *
     * @param terms of the blocks only
     * @param request a {@link Read} or a {@link FetchAhead}
     */
    record OnTerms(FillTerms terms, Message request)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        public OnTerms
        {
            terms = terms.ofBlocks();
            if (!(request instanceof Read) && !(request instanceof FetchAhead)) {
                throw new IllegalArgumentException("%s fills no blocks".formatted(request.type()));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.ON_TERMS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            terms.writeTo(writer);
            writer.putByte(request.type().code());
            request.writeTo(writer);
        }

        static OnTerms read(WireReader reader)
                throws WireException
        {
            FillTerms terms = FillTerms.read(reader);
            MessageType type = MessageType.fromCode(reader.getByte());
            Message request = switch (type) {
                case READ -> Read.read(reader);
                case FETCH_AHEAD -> FetchAhead.read(reader);
                default -> throw new WireException("%s message is not one that fills blocks".formatted(type));
            };
            return new OnTerms(terms, request);
        }
    }

    /**
     * Blocks that were read from shared memory by reads that want them to have this class. Not answered: the worker changes the class of those that it has.
     */
    record Reclassify(FillClass fillClass, List<Digest128> blocks)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        public Reclassify
        {
            requireNonNull(fillClass, "fillClass is null");
            blocks = List.copyOf(blocks);
        }

        @Override
        public MessageType type()
        {
            return MessageType.RECLASSIFY;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putByte(fillClass.ordinal()).putList(blocks, Message::writeDigest);
        }

        static Reclassify read(WireReader reader)
                throws WireException
        {
            return new Reclassify(FillClass.read(reader), reader.getList(Message::readDigest));
        }
    }

    /**
     * The quota of a table that is about to be read, said before its reads and again from time to time. Not answered: the worker keeps to its share of it from then on.
     *
     * @param table {@code schema.table}
     * @param bytes over all cache workers of the ring; {@link FillTerms#NO_QUOTA} for none
     */
    record TableQuota(String table, long bytes)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        public TableQuota
        {
            requireNonNull(table, "table is null");
            if (bytes < 0) {
                throw new IllegalArgumentException("quota is negative: " + bytes);
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.TABLE_QUOTA;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(table).putLong(bytes);
        }

        static TableQuota read(WireReader reader)
                throws WireException
        {
            return new TableQuota(reader.getString(), reader.getLong());
        }
    }

    record Ping()
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PING;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Ping read(WireReader reader)
        {
            return new Ping();
        }
    }

    /**
     * How a worker is.
     *
     * @param version of the worker's software
     * @param state {@code STARTING}, {@code RESTORING}, {@code RUNNING} or {@code DRAINING}
     * @param weight bytes of SSD, or of RAM without SSD
     * @param newestRing the epoch and the publishing time of the newest ring it has; 0 and 0 without one
     */
    record Pong(
            CacheWorkerId worker,
            Digest128 instance,
            String version,
            String state,
            long weight,
            Optional<String> zone,
            long uptimeMillis,
            long restoredBlocks,
            RingEpoch newestRing,
            long newestRingPublishedMillis)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PONG;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(worker.value());
            writeDigest(writer, instance);
            writer.putString(version).putString(state).putLong(weight).putOptionalString(zone).putLong(uptimeMillis).putLong(restoredBlocks)
                    .putLong(newestRing.value()).putLong(newestRingPublishedMillis);
        }

        static Pong read(WireReader reader)
                throws WireException
        {
            return new Pong(
                    new CacheWorkerId(reader.getString()),
                    readDigest(reader),
                    reader.getString(),
                    reader.getString(),
                    reader.getLong(),
                    reader.getOptionalString(),
                    reader.getLong(),
                    reader.getLong(),
                    new RingEpoch(reader.getLong()),
                    reader.getLong());
        }
    }

    /**
     * From the coordinator. Answered by {@link Ack}.
     */
    record PublishRing(PublishedRing ring)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PUBLISH_RING;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeRing(writer, ring);
        }

        static PublishRing read(WireReader reader)
                throws WireException
        {
            return new PublishRing(readRing(reader));
        }
    }

    /**
     * Answered by {@link Rings}.
     */
    record GetRings()
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.GET_RINGS;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static GetRings read(WireReader reader)
        {
            return new GetRings();
        }
    }

    /**
     * @param rings the newest first, at most 16
     */
    record Rings(List<PublishedRing> rings)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.RINGS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(rings, Message::writeRing);
        }

        static Rings read(WireReader reader)
                throws WireException
        {
            return new Rings(reader.getList(Message::readRing));
        }
    }

    /**
     * Asks for the counters of the connection's own cluster and catalog and for the worker's gauges. Answered by {@link Stats}.
     */
    record GetStats()
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.GET_STATS;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static GetStats read(WireReader reader)
        {
            return new GetStats();
        }
    }

    /**
     * @param sinceMillis since when the counters count, milliseconds since the epoch
     * @param problem one sentence with its remedy; empty when the worker is well
     * @param tables counters of the cluster and catalog by table, names of {@link CounterNames}
     * @param gauges of the whole worker, names of {@link CounterNames}
     */
    record Stats(Pong status, long sinceMillis, Optional<String> problem, Map<String, Map<String, Long>> tables, Map<String, Long> gauges)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.STATS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            status.writeTo(writer);
            writer.putLong(sinceMillis)
                    .putOptionalString(problem)
                    .putList(tables.entrySet(), (out, entry) -> out.putString(entry.getKey()).putCounters(entry.getValue()))
                    .putCounters(gauges);
        }

        static Stats read(WireReader reader)
                throws WireException
        {
            return new Stats(
                    Pong.read(reader),
                    reader.getLong(),
                    reader.getOptionalString(),
                    reader.getList(in -> Map.entry(in.getString(), in.getCounters())).stream().collect(toMap(Map.Entry::getKey, Map.Entry::getValue)),
                    reader.getCounters());
        }
    }

    /**
     * Fetches what is missing of a range of a file. Answered by {@link Preloaded} when all of it is there or given up, by
     * {@link BlockNo} if the worker does not take it now, but may later.
     *
     * @param position bytes from the start of the file; widened to whole blocks
     * @param length bytes
     */
    record Preload(int origin, FileVersion file, long position, long length, RingEpoch epoch, String table)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PRELOAD;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeFile(writer, file);
            writer.putLong(position).putLong(length).putLong(epoch.value()).putString(table);
        }

        static Preload read(WireReader reader)
                throws WireException
        {
            return new Preload(reader.getInt(), readFile(reader), reader.getLong(), reader.getLong(), new RingEpoch(reader.getLong()), reader.getString());
        }
    }

    /**
     * @param problem what went wrong first; empty if nothing did
     */
    record Preloaded(long fetchedBytes, long presentBytes, long failedBytes, Optional<String> problem)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.PRELOADED;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(fetchedBytes).putLong(presentBytes).putLong(failedBytes).putOptionalString(problem);
        }

        static Preloaded read(WireReader reader)
                throws WireException
        {
            return new Preloaded(reader.getLong(), reader.getLong(), reader.getLong(), reader.getOptionalString());
        }
    }

    /**
     * From one worker to another: what of a file has it, and on which terms? Answered by {@link Description}.
     */
    record Describe(FileVersionId file, int firstBlock, int blockCount)
            implements Message
    {
        public static final int MAX_BLOCKS = 1024;

        public Describe
        {
            if (firstBlock < 0 || blockCount < 0 || blockCount > MAX_BLOCKS || firstBlock > Integer.MAX_VALUE - blockCount) {
                throw new IllegalArgumentException("there are no %s blocks from %s, or more than %s".formatted(blockCount, firstBlock, MAX_BLOCKS));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.DESCRIBE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, file.digest());
            writer.putInt(firstBlock).putInt(blockCount);
        }

        static Describe read(WireReader reader)
                throws WireException
        {
            return new Describe(new FileVersionId(readDigest(reader)), reader.getInt(), reader.getInt());
        }
    }

    /**
     * @param known false if there is nothing of the file that may be shown: then the rest is empty
     * @param etag to which the file version is bound; empty if the origin told none
     * @param table {@code schema.table} of the read that filled the file first
     * @param blocks that are there
     */
    record Description(boolean known, Optional<String> etag, String table, List<DescribedBlock> blocks)
            implements Message
    {
        public static final Description UNKNOWN = new Description(false, Optional.empty(), "", List.of());

        public Description
        {
            blocks = List.copyOf(blocks);
        }

        @Override
        public MessageType type()
        {
            return MessageType.DESCRIPTION;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putBoolean(known).putOptionalString(etag).putString(table)
                    .putList(blocks, (out, block) -> out.putInt(block.block()).putByte(block.blockClass()).putLong(block.expirySeconds()));
        }

        static Description read(WireReader reader)
                throws WireException
        {
            return new Description(
                    reader.getBoolean(),
                    reader.getOptionalString(),
                    reader.getString(),
                    reader.getList(in -> new DescribedBlock(in.getInt(), in.getByte(), in.getLong())));
        }
    }

    /**
     * The terms on which a worker keeps a block.
     *
     * @param block its index in the file
     * @param blockClass how much it is worth keeping, from 0
     * @param expirySeconds since the epoch, when it expires; 2^32 - 1 if never
     */
    record DescribedBlock(int block, int blockClass, long expirySeconds) {}

    /**
     * From a worker that leaves to the owner of these blocks on the ring without it, which reads them from the sender and keeps them. Answered by {@link HandedOver} when
     * that is done.
     *
     * @param sender whom to read them from, at its address on the rings
     * @param files the hottest blocks first
     */
    record HandOver(CacheWorkerId sender, List<FileBlocks> files)
            implements Message
    {
        public static final int MAX_BLOCKS = 1024;

        public HandOver
        {
            files = List.copyOf(files);
            long count = files.stream().mapToLong(file -> file.blocks().size()).sum();
            if (count > MAX_BLOCKS) {
                throw new IllegalArgumentException("more than %s blocks at once: %s".formatted(MAX_BLOCKS, count));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.HAND_OVER;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(sender.value()).putList(files, (out, file) -> {
                writeFile(out, file.file());
                out.putList(file.blocks(), WireWriter::putInt);
            });
        }

        static HandOver read(WireReader reader)
                throws WireException
        {
            return new HandOver(
                    new CacheWorkerId(reader.getString()),
                    reader.getList(in -> new FileBlocks(readFile(in), in.getList(WireReader::getInt))));
        }
    }

    /**
     * @param blocks their indexes in the file
     */
    record FileBlocks(FileVersion file, List<Integer> blocks)
    {
        public FileBlocks
        {
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * @param blocks how many of those that were named the worker has now
     */
    record HandedOver(int blocks)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.HANDED_OVER;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(blocks);
        }

        static HandedOver read(WireReader reader)
                throws WireException
        {
            return new HandedOver(reader.getInt());
        }
    }

    /**
     * What a scan is about to read. The worker fetches as much of it as it thinks right, before it is asked for it. Answered by {@link Ack} when nothing of the list
     * waits any more, whether it was fetched or not; {@link Cancel} ends it sooner.
     *
     * @param scan by which the worker knows the lists of one scan
     * @param files in the order in which they are likely to be read; whole files of at most one block, others are passed over
     */
    record FetchAhead(int origin, Digest128 scan, String table, List<FileVersion> files)
            implements Message
    {
        public static final int MAX_FILES = 1024;

        public FetchAhead
        {
            requireNonNull(scan, "scan is null");
            requireNonNull(table, "table is null");
            files = List.copyOf(files);
            if (files.size() > MAX_FILES) {
                throw new IllegalArgumentException("more than %s files at once: %s".formatted(MAX_FILES, files.size()));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.FETCH_AHEAD;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(origin);
            writeDigest(writer, scan);
            writer.putString(table).putList(files, Message::writeFile);
        }

        static FetchAhead read(WireReader reader)
                throws WireException
        {
            return new FetchAhead(reader.getInt(), readDigest(reader), reader.getString(), reader.getList(Message::readFile));
        }
    }

    /**
     * What the worker has of these files is to go, and its bytes are to be overwritten. Answered by {@link Flushed} when that is done; from the moment on when the worker has
     * read it, it tells others of the tombstones, also if the answer is lost.
     */
    record Flush(List<Tombstone> tombstones)
            implements Message
    {
        public static final int SINCE_VERSION = 2;
        public static final int MAX_TOMBSTONES = 1024;

        public Flush
        {
            tombstones = List.copyOf(tombstones);
            if (tombstones.size() > MAX_TOMBSTONES) {
                throw new IllegalArgumentException("more than %s tombstones at once: %s".formatted(MAX_TOMBSTONES, tombstones.size()));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.FLUSH;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(tombstones, Message::writeTombstone);
        }

        static Flush read(WireReader reader)
                throws WireException
        {
            return new Flush(reader.getList(Message::readTombstone));
        }
    }

    /**
     * @param files file versions of which something went
     * @param problem what could not be overwritten, though it is not served any more; empty if nothing is left
     */
    record Flushed(long files, Optional<String> problem)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.FLUSHED;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putLong(files).putOptionalString(problem);
        }

        static Flushed read(WireReader reader)
                throws WireException
        {
            return new Flushed(reader.getLong(), reader.getOptionalString());
        }
    }

    /**
     * Asks which tombstones the worker has done. Answered by {@link Tombstones}.
     *
     * @param known exclusive or of the ids of those that the asker has: a worker that has the same answers with none
     * @param after only ids beyond this one, as unsigned numbers; zero for the first
     */
    record GetTombstones(Digest128 known, Digest128 after)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        public GetTombstones
        {
            requireNonNull(known, "known is null");
            requireNonNull(after, "after is null");
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_TOMBSTONES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, known);
            writeDigest(writer, after);
        }

        static GetTombstones read(WireReader reader)
                throws WireException
        {
            return new GetTombstones(readDigest(reader), readDigest(reader));
        }
    }

    /**
     * @param all exclusive or of the ids of all that the worker has done
     * @param tombstones in the order of their ids, at most {@link Flush#MAX_TOMBSTONES}; fewer if there are no more
     */
    record Tombstones(Digest128 all, List<Tombstone> tombstones)
            implements Message
    {
        public Tombstones
        {
            requireNonNull(all, "all is null");
            tombstones = List.copyOf(tombstones);
        }

        @Override
        public MessageType type()
        {
            return MessageType.TOMBSTONES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, all);
            writer.putList(tombstones, Message::writeTombstone);
        }

        static Tombstones read(WireReader reader)
                throws WireException
        {
            return new Tombstones(readDigest(reader), reader.getList(Message::readTombstone));
        }
    }

    /**
     * From now on, files of these places are pinned, or not any more. Answered by {@link Ack} when blocks that are there are so; from the moment on when the worker has read it,
     * it tells others, also if the answer is lost.
     */
    record SetPins(List<Pin> pins)
            implements Message
    {
        public static final int SINCE_VERSION = 2;
        public static final int MAX_PINS = 1024;

        public SetPins
        {
            pins = List.copyOf(pins);
            if (pins.size() > MAX_PINS) {
                throw new IllegalArgumentException("more than %s pins at once: %s".formatted(MAX_PINS, pins.size()));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.SET_PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(pins, Message::writePin);
        }

        static SetPins read(WireReader reader)
                throws WireException
        {
            return new SetPins(reader.getList(Message::readPin));
        }
    }

    /**
     * Asks what is pinned by name, or was lately. Answered by {@link Pins}.
     *
     * @param known exclusive or of the ids of those that the asker has: a worker that has the same answers with none
     * @param after only ids beyond this one, as unsigned numbers; zero for the first
     * @param usage whether to say what there is of each, for which the worker looks through all its files
     */
    record GetPins(Digest128 known, Digest128 after, boolean usage)
            implements Message
    {
        public static final int SINCE_VERSION = 2;

        public GetPins
        {
            requireNonNull(known, "known is null");
            requireNonNull(after, "after is null");
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, known);
            writeDigest(writer, after);
            writer.putBoolean(usage);
        }

        static GetPins read(WireReader reader)
                throws WireException
        {
            return new GetPins(readDigest(reader), readDigest(reader), reader.getBoolean());
        }
    }

    /**
     * @param all exclusive or of the ids of all that the worker has
     * @param pins in the order of their ids, at most {@link SetPins#MAX_PINS}; fewer if there are no more
     */
    record Pins(Digest128 all, List<PinState> pins)
            implements Message
    {
        public Pins
        {
            requireNonNull(all, "all is null");
            pins = List.copyOf(pins);
        }

        @Override
        public MessageType type()
        {
            return MessageType.PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writeDigest(writer, all);
            writer.putList(pins, (out, state) -> {
                writePin(out, state.pin());
                out.putLong(state.cachedBytes()).putLong(state.pinnedBytes());
            });
        }

        static Pins read(WireReader reader)
                throws WireException
        {
            return new Pins(readDigest(reader), reader.getList(in -> new PinState(readPin(in), in.getLong(), in.getLong())));
        }
    }

    /**
     * @param cachedBytes bytes of blocks of its files that the worker has; 0 if that was not asked
     * @param pinnedBytes bytes of those that are of class pinned
     */
    record PinState(Pin pin, long cachedBytes, long pinnedBytes)
    {
        public PinState
        {
            requireNonNull(pin, "pin is null");
        }
    }

    /**
     * Asks which files of the connection's origins the worker has something of: those whose ids begin with these bits. So an answer can be made as small as it should be, and the
     * answers of several workers are of the same files. Answered by {@link Files}.
     *
     * @param bits how many of the prefix count, from its highest
     */
    record GetFiles(int bits, long prefix)
            implements Message
    {
        public static final int SINCE_VERSION = 2;
        public static final int MAX_BITS = 48;

        public GetFiles
        {
            if (bits < 0 || bits > MAX_BITS) {
                throw new IllegalArgumentException("there are 0 to %s bits, not %s".formatted(MAX_BITS, bits));
            }
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_FILES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(bits).putLong(prefix);
        }

        static GetFiles read(WireReader reader)
                throws WireException
        {
            return new GetFiles(reader.getInt(), reader.getLong());
        }
    }

    /**
     * @param complete false if there are too many, so that none is told: ask with more bits
     */
    record Files(boolean complete, List<ListedFile> files)
            implements Message
    {
        public static final int MAX_FILES = 512;

        public Files
        {
            files = List.copyOf(files);
        }

        @Override
        public MessageType type()
        {
            return MessageType.FILES;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putBoolean(complete).putList(files, (out, file) -> {
                writeFile(out, file.file());
                out.putString(file.table())
                        .putLong(file.ramBytes())
                        .putLong(file.ssdBytes())
                        .putLong(file.cachedBytes())
                        .putByte(file.blockClass())
                        .putLong(file.nextExpirySeconds());
            });
        }

        static Files read(WireReader reader)
                throws WireException
        {
            return new Files(
                    reader.getBoolean(),
                    reader.getList(in -> new ListedFile(readFile(in), in.getString(), in.getLong(), in.getLong(), in.getLong(), in.getByte(), in.getLong())));
        }
    }

    /**
     * How much a worker has of a file version.
     *
     * @param table {@code schema.table} of the read that filled it first
     * @param ramBytes of its blocks in RAM
     * @param ssdBytes of its blocks on SSD
     * @param cachedBytes of its blocks in either
     * @param blockClass the highest of its blocks, from 0: guest, normal, high, pinned
     * @param nextExpirySeconds since the epoch, when the first of its blocks expires; 2^32 - 1 if none does
     */
    record ListedFile(FileVersion file, String table, long ramBytes, long ssdBytes, long cachedBytes, int blockClass, long nextExpirySeconds)
    {
        public ListedFile
        {
            requireNonNull(file, "file is null");
            requireNonNull(table, "table is null");
        }
    }

    record Ack()
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.ACK;
        }

        @Override
        public void writeTo(WireWriter writer) {}

        static Ack read(WireReader reader)
        {
            return new Ack();
        }
    }

    /**
     * The request was refused. With request id 0: the connection is, and will be closed.
     */
    record Error(String message)
            implements Message
    {
        @Override
        public MessageType type()
        {
            return MessageType.ERROR;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(message);
        }

        static Error read(WireReader reader)
                throws WireException
        {
            return new Error(reader.getString());
        }
    }

    private static void writeDigest(WireWriter writer, Digest128 digest)
    {
        writer.putLong(digest.high()).putLong(digest.low());
    }

    private static Digest128 readDigest(WireReader reader)
            throws WireException
    {
        return new Digest128(reader.getLong(), reader.getLong());
    }

    /**
     * Also the form in which a worker keeps a tombstone.
     */
    static void writeTombstone(WireWriter writer, Tombstone tombstone)
    {
        writeDigest(writer, tombstone.id());
        writeDigest(writer, tombstone.origin().digest());
        writer.putString(tombstone.location()).putLong(tombstone.createdMillis());
    }

    static Tombstone readTombstone(WireReader reader)
            throws WireException
    {
        return new Tombstone(readDigest(reader), new OriginId(readDigest(reader)), reader.getString(), reader.getLong());
    }

    static void writePin(WireWriter writer, Pin pin)
    {
        writeDigest(writer, pin.id());
        writeDigest(writer, pin.origin().digest());
        writer.putString(pin.location())
                .putString(pin.table())
                .putOptionalString(pin.partition())
                .putBoolean(pin.pinned())
                .putLong(pin.createdMillis());
    }

    static Pin readPin(WireReader reader)
            throws WireException
    {
        return new Pin(
                readDigest(reader),
                new OriginId(readDigest(reader)),
                reader.getString(),
                reader.getString(),
                reader.getOptionalString(),
                reader.getBoolean(),
                reader.getLong());
    }

    private static void writeFile(WireWriter writer, FileVersion file)
    {
        writeDigest(writer, file.origin().digest());
        writer.putString(file.location()).putLong(file.length()).putLong(file.lastModifiedMillis());
    }

    private static FileVersion readFile(WireReader reader)
            throws WireException
    {
        return new FileVersion(new OriginId(readDigest(reader)), reader.getString(), reader.getLong(), reader.getLong());
    }

    /**
     * Also the form in which a ring stands in shared memory.
     */
    static void writeRing(WireWriter writer, PublishedRing published)
    {
        writer.putLong(published.publishedMillis())
                .putList(published.ring().members(), (out, member) -> {
                    out.putString(member.id().value()).putLong(member.weight()).putOptionalString(member.zone());
                    Optional<WorkerAddress> address = published.address(member.id());
                    out.putBoolean(address.isPresent());
                    address.ifPresent(value -> out.putString(value.host()).putInt(value.port()));
                });
    }

    static PublishedRing readRing(WireReader reader)
            throws WireException
    {
        record Place(RingMember member, Optional<WorkerAddress> address) {}

        long publishedMillis = reader.getLong();
        List<Place> places = reader.getList(in -> new Place(
                new RingMember(new CacheWorkerId(in.getString()), in.getLong(), in.getOptionalString()),
                in.getBoolean() ? Optional.of(new WorkerAddress(in.getString(), in.getInt())) : Optional.empty()));
        return new PublishedRing(
                HashRing.of(places.stream().map(Place::member).toList()),
                places.stream()
                        .filter(place -> place.address().isPresent())
                        .collect(toMap(place -> place.member().id(), place -> place.address().orElseThrow())),
                publishedMillis);
    }
}
