package io.cachedhive.attack.setting;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * A file of one block that the program puts into the cache and reads again. Its origin is not configured at any cache
 * worker, so clients provide its bytes.
 */
public final class Sample
{
    public static final String TABLE = "attack.sample";
    public static final OriginId ORIGIN = OriginId.of("attack", Optional.empty(), Optional.empty());
    public static final List<NamedOrigin> ORIGINS = ImmutableList.of(new NamedOrigin("attack", ORIGIN));
    public static final String DIRECTORY = "attack://sample/";

    // one piece has one checksum
    private static final int BYTES = PieceChecksums.PIECE_BYTES;

    private final FileVersion file;
    private final byte[] bytes;

    private Sample(FileVersion file, byte[] bytes)
    {
        this.file = requireNonNull(file, "file is null");
        this.bytes = requireNonNull(bytes, "bytes is null");
    }

    /**
     * Returns a file whose bytes follow from its name.
     */
    public static Sample of(String name)
    {
        byte[] bytes = new byte[BYTES];
        new Random(name.hashCode()).nextBytes(bytes);
        return new Sample(new FileVersion(ORIGIN, DIRECTORY + name, BYTES, 1_700_000_000_000L), bytes);
    }

    public FileVersion file()
    {
        return file;
    }

    public byte[] bytes()
    {
        return bytes.clone();
    }

    /**
     * Returns the answer of a server that has the block.
     */
    public BlockBytes answer()
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return new BlockBytes(0, Source.RAM, 0, new PieceChecksums(0, BYTES, new int[] {(int) checksum.getValue()}), ByteBuffer.wrap(bytes));
    }

    /**
     * Returns a request for the block.
     *
     * @param mayFill whether the cache worker may request the bytes from the client
     */
    public Read read(boolean mayFill)
    {
        return new Read(0, file, Range.ofBlocks(0, 1), true, mayFill, mayFill, new RingEpoch(1), TABLE);
    }
}
