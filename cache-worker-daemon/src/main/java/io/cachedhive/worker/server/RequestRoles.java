package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.MessageType;

import java.util.Optional;

import static io.cachedhive.worker.server.PeerRole.CLUSTER;
import static io.cachedhive.worker.server.PeerRole.READER;

/**
 * The role that each request needs. A reader may send what the client of a Trino worker sends over the Unix socket of
 * its host. Everything that changes or reveals the cache as a whole needs the role of the cluster.
 */
public final class RequestRoles
{
    private RequestRoles() {}

    /**
     * Returns the role that a peer needs to send a message after its handshake.
     *
     * @return empty if peers do not send the message after their handshake
     */
    public static Optional<PeerRole> needed(MessageType type)
    {
        return switch (type) {
            case READ,
                    ON_TERMS,
                    FETCH_AHEAD,
                    CANCEL,
                    FILL,
                    RELEASE_LEASE,
                    OFFER_GUEST,
                    USAGE,
                    RECLASSIFY,
                    CHUNK_SIZE,
                    // a reader that finds wrong bytes must be able to keep them from other readers
                    REVALIDATE,
                    QUARANTINE,
                    PING,
                    GET_RINGS,
                    GET_STATS,
                    REPORT_PROBLEM -> Optional.of(READER);
            case PUBLISH_RING,
                    FLUSH,
                    RELEASE_FILES,
                    SET_PINS,
                    // a small quota evicts the blocks of a table, as a flush does
                    TABLE_QUOTA,
                    PRELOAD,
                    DESCRIBE,
                    HAND_OVER,
                    GET_TABLES,
                    GET_FILES,
                    GET_PINS,
                    GET_TOMBSTONES -> Optional.of(CLUSTER);
            case HELLO,
                    CHALLENGE,
                    PROOF,
                    WELCOME,
                    FETCHING,
                    BLOCK_FRAME,
                    BLOCK_BYTES,
                    BLOCK_LEASE,
                    BLOCK_NO,
                    PONG,
                    RINGS,
                    STATS,
                    PRELOADED,
                    DESCRIPTION,
                    HANDED_OVER,
                    FLUSHED,
                    TOMBSTONES,
                    FILES,
                    PINS,
                    TABLES,
                    ACK,
                    ERROR -> Optional.empty();
        };
    }
}
