package io.cachedhive.worker.request;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.time.ClockSkew;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.InvalidationMessage.Quarantine;
import io.cachedhive.protocol.wire.InvalidationMessage.ReleaseFiles;
import io.cachedhive.protocol.wire.InvalidationMessage.Revalidate;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PinMessage.SetPins;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.worker.server.Session;

import java.time.Clock;
import java.util.Optional;

/**
 * Validates requests once, when they arrive. Later code relies on it.
 */
record RequestValidator(int blockSizeBytes, Clock clock)
{
    private static final int MAX_BLOCKS_PER_READ = 1024;

    /**
     * Checks a request.
     *
     * @return why the request is invalid; empty if it is valid
     */
    Optional<String> contradiction(Session session, Message request)
    {
        return switch (request) {
            case Read read -> read(session, read);
            case OnTerms onTerms -> contradiction(session, onTerms.request());
            case Revalidate revalidate -> file(session, revalidate.origin(), revalidate.file());
            case Quarantine quarantine -> file(session, quarantine.origin(), quarantine.file());
            case ReleaseFiles release -> origin(session, release.origin());
            case OfferGuest offer -> offerGuest(session, offer);
            case Preload preload -> preload(session, preload);
            case FetchAhead ahead -> ahead.files().stream()
                    .flatMap(file -> file(session, ahead.origin(), file).stream())
                    .findFirst();
            case PublishRing publish -> time("ring", publish.ring().publishedMillis());
            case Flush flush -> flush.tombstones().stream()
                    .flatMap(tombstone -> time("flush", tombstone.createdMillis()).stream())
                    .findFirst();
            case SetPins set -> set.pins().stream()
                    .flatMap(pin -> time("pin", pin.createdMillis()).stream())
                    .findFirst();
            default -> Optional.empty();
        };
    }

    private Optional<String> time(String record, long millis)
    {
        return ClockSkew.isAhead(millis, clock.millis()) ?
                Optional.of("the %s has a time more than %s hours ahead of the cache worker's clock: synchronize the clocks of the coordinator and of all cache workers"
                        .formatted(record, ClockSkew.MAX_AHEAD.toHours())) :
                Optional.empty();
    }

    private static Optional<String> file(Session session, int origin, FileVersion file)
    {
        Optional<String> contradiction = origin(session, origin);
        if (contradiction.isPresent()) {
            return contradiction;
        }
        if (!session.origins().get(origin).id().equals(file.origin())) {
            return Optional.of("the file's origin is not the one that the request names");
        }
        return Optional.empty();
    }

    private static Optional<String> origin(Session session, int origin)
    {
        int count = session.origins().size();
        return origin >= 0 && origin < count ?
                Optional.empty() :
                Optional.of("the connection named %s origins, there is none with the index %s".formatted(count, origin));
    }

    private Optional<String> read(Session session, Read read)
    {
        Optional<String> contradiction = file(session, read.origin(), read.file());
        if (contradiction.isPresent()) {
            return contradiction;
        }
        if (read.blockCount() < 1 || read.blockCount() > MAX_BLOCKS_PER_READ) {
            return Optional.of("a read asks for 1 to %s blocks, not %s".formatted(MAX_BLOCKS_PER_READ, read.blockCount()));
        }
        long fileBlocks = blocks(read.file());
        if (read.firstBlock() < 0 || read.firstBlock() + (long) read.blockCount() > Math.min(fileBlocks, Integer.MAX_VALUE)) {
            return Optional.of("file of %s blocks has no %s blocks from %s".formatted(fileBlocks, read.blockCount(), read.firstBlock()));
        }
        Range range = read.range();
        int lastBlock = range.firstBlock() + range.blockCount() - 1;
        long requested = (range.blockCount() - 1L) * blockSizeBytes + read.file().blockLength(lastBlock, blockSizeBytes) - range.skip() - range.omit();
        if (range.skip() < 0 || range.skip() >= blockSizeBytes || range.omit() < 0 || range.omit() >= read.file().blockLength(lastBlock, blockSizeBytes) || requested <= 0) {
            return Optional.of("a read without %s bytes of its first and %s of its last block asks for nothing".formatted(range.skip(), range.omit()));
        }
        return Optional.empty();
    }

    private Optional<String> offerGuest(Session session, OfferGuest offer)
    {
        Optional<String> contradiction = file(session, offer.origin(), offer.file());
        if (contradiction.isPresent()) {
            return contradiction;
        }
        int length = offer.payload().remaining();
        if (offer.block() < 0 || offer.block() >= blocks(offer.file()) || length != offer.file().blockLength(offer.block(), blockSizeBytes)) {
            return Optional.of("block %s of %s bytes is none of %s".formatted(offer.block(), length, offer.file().location()));
        }
        return Optional.empty();
    }

    private Optional<String> preload(Session session, Preload preload)
    {
        FileVersion file = preload.file();
        Optional<String> contradiction = file(session, preload.origin(), file);
        if (contradiction.isPresent()) {
            return contradiction;
        }
        if (preload.position() < 0 || preload.length() < 0 || preload.position() > file.length() - preload.length()) {
            return Optional.of("file of %s bytes has no %s bytes from %s".formatted(file.length(), preload.length(), preload.position()));
        }
        if (blocks(file) > Integer.MAX_VALUE) {
            return Optional.of("file of %s bytes has more blocks than can be counted".formatted(file.length()));
        }
        return Optional.empty();
    }

    private long blocks(FileVersion file)
    {
        return Math.ceilDiv(file.length(), (long) blockSizeBytes);
    }
}
