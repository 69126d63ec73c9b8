package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;

import java.util.List;

/**
 * Messages that open a connection.
 */
public sealed interface HandshakeMessage
        extends Message
{
    /**
     * The first message of a client.
     *
     * @param cluster the Trino cluster, which has its own counters
     * @param catalog the catalog, which has its own counters; empty for clients other than catalogs
     * @param node the Trino node
     * @param origins the origins of the client's files; reads refer to an origin by its index in this list
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
     * An origin and its name in the catalog ({@code cachedhive.origin}).
     */
    record NamedOrigin(String name, OriginId id) {}

    /**
     * The server's reply to {@link Hello}.
     *
     * @param version the negotiated protocol version
     * @param proofRequired whether the client has to prove that it knows the shared secret
     * @param worker the id of the cache worker, which both sides sign
     * @param proofs the proofs of the server, one for each valid secret; empty without a secret
     */
    record Challenge(int version, boolean proofRequired, byte[] nonce, CacheWorkerId worker, List<byte[]> proofs)
            implements HandshakeMessage
    {
        /**
         * The maximum number of proofs, one per valid secret.
         */
        public static final int MAX_PROOFS = 2;

        public Challenge
        {
            if (proofs.size() > MAX_PROOFS) {
                throw new IllegalArgumentException("%s proofs, at most %s are allowed".formatted(proofs.size(), MAX_PROOFS));
            }
            proofs = List.copyOf(proofs);
        }

        @Override
        public MessageType type()
        {
            return MessageType.CHALLENGE;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putInt(version).putBoolean(proofRequired).putBytes(nonce).putString(worker.value()).putList(proofs, WireWriter::putBytes);
        }

        static Challenge read(WireReader reader)
                throws WireException
        {
            return new Challenge(
                    reader.getInt(),
                    reader.getBoolean(),
                    reader.getBytes(),
                    new CacheWorkerId(reader.getString()),
                    reader.getList(WireReader::getBytes));
        }
    }

    /**
     * The client's proof that it knows the shared secret.
     *
     * @param proof empty if the client has no secret, which only the Unix socket accepts
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
     * Completes the handshake.
     *
     * @param instance identifies this run of the worker process
     * @param memoryFile the absolute path of the shared-memory file; empty over TCP, or if the worker has no RAM tier
     * @param keepsGuests whether part of the RAM tier is for guests, so that {@link OfferGuest} is useful
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
     * Reports the chunk size by which the client finds the owners of its files, so that the worker can find former
     * owners. Sent once, before all requests. Not answered.
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
