package io.cachedhive.benchmark.wire;

import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.WireException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What the frames of one read cost to write and to take apart, without sockets.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WireCodecBenchmark
{
    private final Read read = new Read(
            0,
            new FileVersion(
                    OriginId.of("s3", Optional.of("http://127.0.0.1:9000"), Optional.of("us-east-1")),
                    "s3://lake/warehouse/orders/o_orderdate=1995-07-16/20261120_201500_00012_aaaaa_0a1b2c3d.parquet",
                    134_217_728,
                    1_795_000_000_000L),
            new Range(17, 4, 4096, 0),
            false,
            true,
            true,
            new RingEpoch(0x0123456789ABCDEFL),
            "warehouse.orders");
    private final BlockFrame frame = new BlockFrame(17, Source.SSD, 0x1122334455667788L, 1 << 20, 4096, 1 << 30, 123_456);
    private final BlockBytes bytes = new BlockBytes(17, Source.RAM, 0x1122334455667788L, new PieceChecksums(0, 1 << 20, new int[16]), ByteBuffer.allocate(1 << 20));

    private final ByteBuffer readFrame = read.toFrame(1);
    private final ByteBuffer frameFrame = frame.toFrame(1);
    private final ByteBuffer bytesFrame = bytes.toFrame(1);

    @Benchmark
    public ByteBuffer writeRead()
    {
        return read.toFrame(1);
    }

    @Benchmark
    public Message readRead()
            throws WireException
    {
        return take(readFrame);
    }

    @Benchmark
    public ByteBuffer writeBlockFrame()
    {
        return frame.toFrame(1);
    }

    @Benchmark
    public Message readBlockFrame()
            throws WireException
    {
        return take(frameFrame);
    }

    /// The payload itself is gathered from where it lies.
    @Benchmark
    public ByteBuffer writeBlockBytesPrefix()
    {
        return bytes.toFramePrefix(1);
    }

    /// The payload stays a view.
    @Benchmark
    public Message readBlockBytes()
            throws WireException
    {
        return take(bytesFrame);
    }

    private static Message take(ByteBuffer frame)
            throws WireException
    {
        ByteBuffer buffer = frame.duplicate();
        FrameHeader header = FrameHeader.readFrom(buffer, FrameHeader.MAX_BODY_BYTES);
        return Message.read(header.type(), buffer);
    }
}
