package io.cachedhive.plugin.membership;

import com.google.common.net.HostAndPort;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;

import static io.airlift.node.AddressToHostname.encodeAddressAsHostname;
import static org.assertj.core.api.Assertions.assertThat;

class TestTrinoNodes
{
    @Test
    void testAddressThatTrinoEncodesAsName()
            throws Exception
    {
        assertThat(host("https://127-0-0-1.ip:8443")).isEqualTo("127.0.0.1");
        assertThat(host("https://10-0-0-5.ip:8443")).isEqualTo("10.0.0.5");
        assertThat(host("https://x2001-db8--5.ip:8443")).isEqualTo("2001:db8::5");
        assertThat(host("https://x--1.ip:8443")).isEqualTo("::1");
        // as Trino makes them
        for (String address : List.of("192.168.0.17", "2001:db8:0:1::a")) {
            assertThat(host("https://%s:8443".formatted(encodeAddressAsHostname(InetAddress.getByName(address))))).isEqualTo(address);
        }
    }

    @Test
    void testOtherNamesAndAddressesStay()
    {
        assertThat(host("http://trino-worker-1.example.net:8080")).isEqualTo("trino-worker-1.example.net");
        assertThat(host("http://127.0.0.1:8080")).isEqualTo("127.0.0.1");
        assertThat(host("http://[2001:db8::5]:8080")).isEqualTo("2001:db8::5");
    }

    /**
     * A name that ends as encoded addresses do must not end the periodic probe of all cache workers.
     */
    @Test
    void testNamesThatOnlyLookAlikeStay()
    {
        for (String name : List.of("worker-1.ip", "10-0-0.ip", "10-0-0-256.ip", "x10-0-0-5.ip", "xenon.ip", "127-0-0-1.ip.example.net", "127-0-0-1")) {
            assertThat(host("https://%s:8443".formatted(name))).isEqualTo(name);
        }
    }

    /**
     * The engine finds the node of a split by this address, and by no other way of writing it.
     */
    @Test
    void testAddressesOfSplitsStay()
    {
        ClusterNode first = node("a", "https://10-0-0-5.ip:8443");
        ClusterNode second = node("b", "https://10-0-0-5.ip:8444");
        ClusterNode other = node("c", "https://10-0-0-6.ip:8443");
        TrinoNodes nodes = TrinoNodes.of(List.of(other, second, first));
        assertThat(nodes.byHost()).isEqualTo(Map.of(
                "10.0.0.5", List.of(first.address(), second.address()),
                "10.0.0.6", List.of(other.address())));
        assertThat(nodes.on("10.0.0.6")).containsExactly(HostAndPort.fromParts("10-0-0-6.ip", 8443));
    }

    private static String host(String uri)
    {
        return TrinoNodes.of(List.of(node("node", uri))).hosts().iterator().next();
    }

    private static ClusterNode node(String id, String uri)
    {
        return new ClusterNode(id, HostAndPort.fromString(URI.create(uri).getAuthority()));
    }
}
