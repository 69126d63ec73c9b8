package io.cachedhive.plugin.preload;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class TestByteRange
{
    @Test
    void testJoin()
    {
        List<ByteRange> ranges = List.of(new ByteRange(50, 60), new ByteRange(0, 10), new ByteRange(20, 20), new ByteRange(12, 15), new ByteRange(52, 55));
        assertThat(ByteRange.join(ranges, 0)).containsExactly(new ByteRange(0, 10), new ByteRange(12, 15), new ByteRange(50, 60));
        assertThat(ByteRange.join(ranges, 2)).containsExactly(new ByteRange(0, 15), new ByteRange(50, 60));
        assertThat(ByteRange.join(ranges, 34)).containsExactly(new ByteRange(0, 15), new ByteRange(50, 60));
        assertThat(ByteRange.join(ranges, 35)).containsExactly(new ByteRange(0, 60));
        assertThat(ByteRange.join(List.of(), 35)).isEmpty();
    }
}
