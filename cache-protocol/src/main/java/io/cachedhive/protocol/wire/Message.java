package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.FillMessage.ReleaseLease;
import io.cachedhive.protocol.wire.HandOverMessage.Describe;
import io.cachedhive.protocol.wire.HandOverMessage.Description;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.HandOverMessage.HandedOver;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.ChunkSize;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.HandshakeMessage.Welcome;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.cachedhive.protocol.wire.InvalidationMessage.GetTombstones;
import io.cachedhive.protocol.wire.InvalidationMessage.Quarantine;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.InvalidationMessage.Revalidate;
import io.cachedhive.protocol.wire.InvalidationMessage.Tombstones;
import io.cachedhive.protocol.wire.ListingMessage.Files;
import io.cachedhive.protocol.wire.ListingMessage.GetFiles;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.Pins;
import io.cachedhive.protocol.wire.PinMessage.SetPins;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PolicyMessage.Reclassify;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.GetTables;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.ReportProblem;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;

import java.nio.ByteBuffer;

/**
 * A message between a cache worker and a client. Each family of messages is an interface that contains its messages as
 * records, with the code that writes and reads them.
 *
 * <p>A connection begins with {@link Hello}, {@link Challenge}, {@link Proof} and {@link Welcome}. A Unix socket
 * requires no secret, because its file permissions control access; otherwise it behaves like TCP. After the handshake
 * the client sends any number of concurrent requests. Answers arrive in any order, with the request id of the frame.
 */
public sealed interface Message
        permits
        ControlMessage,
        FillMessage,
        HandOverMessage,
        HandshakeMessage,
        InvalidationMessage,
        ListingMessage,
        PinMessage,
        PolicyMessage,
        PreloadMessage,
        ReadMessage,
        RingMessage,
        StatusMessage
{
    /**
     * The newest and the oldest protocol version that this code supports.
     */
    int MAX_VERSION = 1;
    int MIN_VERSION = 1;

    MessageType type();

    void writeTo(WireWriter writer);

    /**
     * Returns the whole frame, header and body, ready to send.
     *
     * @throws FrameTooLargeException if the body exceeds {@link FrameHeader#MAX_BODY_BYTES}
     */
    default ByteBuffer toFrame(long requestId)
    {
        WireWriter writer = new WireWriter(256);
        // space for the header, which contains the length of the body
        writer.putLong(0).putLong(0);
        writeTo(writer);
        ByteBuffer frame = writer.finish();
        int bodyLength = frame.remaining() - FrameHeader.BYTES;
        if (bodyLength > FrameHeader.MAX_BODY_BYTES) {
            throw new FrameTooLargeException(type(), bodyLength);
        }
        new FrameHeader(bodyLength, type(), requestId).writeTo(frame.duplicate());
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
                case BLOCK_BYTES -> BlockBytes.read(body);
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
                case GET_TABLES -> GetTables.read(reader);
                case TABLES -> Tables.read(reader);
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
                case RELEASE_FILES -> ReleaseFiles.read(reader);
                case REPORT_PROBLEM -> ReportProblem.read(reader);
                case ACK -> Ack.read(reader);
                case ERROR -> ControlMessage.Error.read(reader);
            };
        }
        catch (IllegalArgumentException | IllegalStateException | ArithmeticException e) {
            // thrown by constructors of messages and by maps with a duplicate key
            throw new WireException("%s message is not valid: %s".formatted(type, e.getMessage()));
        }
        reader.expectEnd();
        return message;
    }
}
