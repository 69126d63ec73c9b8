package io.cachedhive.client.connection;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestTransferMemory
{
    private static final int UNIT = 64 << 10;

    @Test
    void testReservations()
    {
        TransferMemory memory = new TransferMemory(100);
        assertThat(memory.tryReserve(60)).isTrue();
        assertThat(memory.tryReserve(41)).isFalse();
        assertThat(memory.tryReserve(40)).isTrue();
        assertThat(memory.reservedBytes()).isEqualTo(100);
        memory.release(60);
        assertThat(memory.tryReserve(61)).isFalse();
        assertThat(memory.tryReserve(60)).isTrue();
    }

    @Test
    void testFootprint()
    {
        assertThat(TransferMemory.footprint(0)).isEqualTo(UNIT);
        assertThat(TransferMemory.footprint(1)).isEqualTo(UNIT);
        assertThat(TransferMemory.footprint(UNIT)).isEqualTo(UNIT);
        assertThat(TransferMemory.footprint(UNIT + 1)).isEqualTo(2 * UNIT);
        assertThat(TransferMemory.footprint(1 << 20)).isEqualTo(1 << 20);
        assertThat(TransferMemory.footprint(8 << 20)).isEqualTo(8 << 20);
    }

    @Test
    void testBuffersAreUsedAgain()
    {
        TransferMemory memory = new TransferMemory(1 << 20);
        TransferMemory.Buffer buffer = memory.take(1000);
        ByteBuffer bytes = buffer.bytes();
        assertThat(bytes.isDirect()).isTrue();
        assertThat(bytes.remaining()).isEqualTo(1000);
        assertThat(memory.lentBytes()).isEqualTo(UNIT);
        buffer.release();
        assertThat(memory.lentBytes()).isZero();
        assertThatThrownBy(buffer::release).isInstanceOf(IllegalStateException.class);

        TransferMemory.Buffer next = memory.take(UNIT);
        assertThat(next.bytes()).isSameAs(bytes);
        assertThat(next.bytes().remaining()).isEqualTo(UNIT);
        TransferMemory.Buffer another = memory.take(UNIT);
        assertThat(another.bytes()).isNotSameAs(bytes);
    }
}
