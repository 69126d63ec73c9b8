package io.cachedhive.worker.server;

import io.cachedhive.protocol.wire.MessageType;
import org.junit.jupiter.api.Test;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

import static io.cachedhive.worker.server.PeerRole.CLUSTER;
import static io.cachedhive.worker.server.PeerRole.READER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPeerRole
{
    @Test
    void testRoleOfAPeer()
    {
        assertThat(PeerRole.of(Transport.TCP, true, true)).isEqualTo(CLUSTER);
        assertThat(PeerRole.of(Transport.UNIX, true, true)).isEqualTo(CLUSTER);
        assertThat(PeerRole.of(Transport.UNIX, false, true)).isEqualTo(READER);
        assertThat(PeerRole.of(Transport.UNIX, false, false)).isEqualTo(CLUSTER);
        assertThatThrownBy(() -> PeerRole.of(Transport.TCP, false, true)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void testClusterIncludesReader()
    {
        assertThat(CLUSTER.includes(READER)).isTrue();
        assertThat(CLUSTER.includes(CLUSTER)).isTrue();
        assertThat(READER.includes(READER)).isTrue();
        assertThat(READER.includes(CLUSTER)).isFalse();
    }

    /**
     * The role of each request, spelled out once more: a new message has to be added to one of the two lists, or to the
     * messages that no client sends.
     */
    @Test
    void testRolesOfRequests()
    {
        Set<MessageType> readers = EnumSet.of(
                MessageType.READ,
                MessageType.ON_TERMS,
                MessageType.FETCH_AHEAD,
                MessageType.CANCEL,
                MessageType.FILL,
                MessageType.RELEASE_LEASE,
                MessageType.OFFER_GUEST,
                MessageType.USAGE,
                MessageType.RECLASSIFY,
                MessageType.CHUNK_SIZE,
                MessageType.REVALIDATE,
                MessageType.QUARANTINE,
                MessageType.PING,
                MessageType.GET_RINGS,
                MessageType.GET_STATS,
                MessageType.REPORT_PROBLEM);
        Set<MessageType> cluster = EnumSet.of(
                MessageType.PUBLISH_RING,
                MessageType.FLUSH,
                MessageType.RELEASE_FILES,
                MessageType.SET_PINS,
                MessageType.TABLE_QUOTA,
                MessageType.PRELOAD,
                MessageType.DESCRIBE,
                MessageType.HAND_OVER,
                MessageType.GET_TABLES,
                MessageType.GET_FILES,
                MessageType.GET_PINS,
                MessageType.GET_TOMBSTONES);
        for (MessageType type : MessageType.values()) {
            Optional<PeerRole> expected = readers.contains(type) ? Optional.of(READER) : cluster.contains(type) ? Optional.of(CLUSTER) : Optional.empty();
            assertThat(RequestRoles.needed(type)).as(type.name()).isEqualTo(expected);
        }
    }
}
