package io.cachedhive.protocol.wire;

/**
 * The kinds of messages. Codes are part of the protocol and are never reused.
 */
public enum MessageType
{
    HELLO(1),
    CHALLENGE(2),
    PROOF(3),
    WELCOME(4),
    READ(10),
    FETCHING(11),
    BLOCK_FRAME(12),
    BLOCK_BYTES(13),
    BLOCK_LEASE(14),
    BLOCK_NO(15),
    FILL(16),
    RELEASE_LEASE(17),
    REVALIDATE(18),
    CANCEL(19),
    USAGE(20),
    OFFER_GUEST(21),
    CHUNK_SIZE(22),
    ON_TERMS(23),
    RECLASSIFY(24),
    TABLE_QUOTA(25),
    QUARANTINE(29),
    PING(30),
    PONG(31),
    PUBLISH_RING(32),
    GET_RINGS(33),
    RINGS(34),
    GET_STATS(35),
    STATS(36),
    PRELOAD(40),
    PRELOADED(41),
    FETCH_AHEAD(42),
    DESCRIBE(43),
    DESCRIPTION(44),
    HAND_OVER(45),
    HANDED_OVER(46),
    FLUSH(47),
    FLUSHED(48),
    GET_TOMBSTONES(49),
    ACK(50),
    ERROR(51),
    TOMBSTONES(52),
    GET_FILES(53),
    FILES(54),
    SET_PINS(55),
    GET_PINS(56),
    PINS(57),
    GET_TABLES(58),
    TABLES(59),
    RELEASE_FILES(60),
    REPORT_PROBLEM(61);

    private static final MessageType[] BY_CODE = new MessageType[128];

    static {
        for (MessageType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final byte code;

    MessageType(int code)
    {
        this.code = (byte) code;
    }

    public byte code()
    {
        return code;
    }

    /**
     * Returns the maximum size of a body, in bytes. A cache worker skips a larger body of a request instead of holding
     * it. The party that waits for a reply limits the reply.
     */
    public int maxBodyBytes()
    {
        return switch (this) {
            case HELLO,
                    CHALLENGE,
                    PROOF,
                    WELCOME -> FrameHeader.MAX_HANDSHAKE_BODY_BYTES;
            case READ,
                    RELEASE_LEASE,
                    REVALIDATE,
                    QUARANTINE,
                    CANCEL,
                    CHUNK_SIZE,
                    TABLE_QUOTA,
                    PING,
                    GET_RINGS,
                    GET_STATS,
                    GET_TABLES,
                    GET_TOMBSTONES,
                    GET_FILES,
                    GET_PINS,
                    PRELOAD,
                    DESCRIBE,
                    REPORT_PROBLEM -> 64 << 10;
            case USAGE,
                    RECLASSIFY -> 1 << 20;
            case ON_TERMS,
                    FETCH_AHEAD,
                    HAND_OVER,
                    PUBLISH_RING -> 2 << 20;
            case FILL,
                    OFFER_GUEST,
                    FLUSH,
                    SET_PINS,
                    RELEASE_FILES,
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
                    ERROR -> FrameHeader.MAX_BODY_BYTES;
        };
    }

    public static MessageType fromCode(byte code)
            throws WireException
    {
        MessageType type = code < 0 ? null : BY_CODE[code];
        if (type == null) {
            throw new WireException("unknown message type: " + code);
        }
        return type;
    }
}
