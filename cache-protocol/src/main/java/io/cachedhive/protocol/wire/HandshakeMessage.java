package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;

import java.util.List;

/**
 * How a connection begins.
 */
public sealed interface HandshakeMessage
        extends Message
{
    /**
     * The first message of a client.
     *
     * @param cluster the Trino cluster: its counters are kept apart
     * @param catalog the catalog: its counters are kept apart; empty for clients that are not a catalog
     * @param node the Trino node
     * @param origins the origins that the client's reads name, by their place in this list
     */
    record Hello(int minVersion, int maxVersion, byte[] nonce, String cluster, String catalog, String node, List<NamedOrigin> origins)
            implements HandshakeMessage
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
                        out.putString(origin.name()).putDigest(origin.id().digest());
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
                    reader.getList(in -> new NamedOrigin(in.getString(), new OriginId(in.getDigest()))));
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
            implements HandshakeMessage
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
            implements HandshakeMessage
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
            implements HandshakeMessage
    {
        @Override
        public MessageType type()
        {
            return MessageType.WELCOME;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putString(worker.value()).putDigest(instance).putInt(blockSizeBytes).putString(memoryFile).putBoolean(keepsGuests)
                    .putList(origins, (out, status) -> out.putByte(status.ordinal()));
        }

        static Welcome read(WireReader reader)
                throws WireException
        {
            return new Welcome(
                    new CacheWorkerId(reader.getString()),
                    reader.getDigest(),
                    reader.getInt(),
                    reader.getString(),
                    reader.getBoolean(),
                    reader.getList(OriginStatus::read));
        }
    }

    /**
     * By which size the client finds the owners of the files of its origins, so that the worker can tell who owned a block before it. Said once, before all requests. Not answered.
     */
    record ChunkSize(long bytes)
            implements HandshakeMessage
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
}
