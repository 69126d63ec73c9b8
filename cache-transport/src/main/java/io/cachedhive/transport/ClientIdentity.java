package io.cachedhive.transport;

import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Who a client says it is when it connects to a worker.
 *
 * @param cluster the Trino cluster: its counters are kept apart
 * @param catalog the catalog: its counters are kept apart
 * @param node the Trino node
 * @param origins the origins that reads name, by their place in this list
 * @param sharedSecret proven to workers over TCP, and asked of them; never sent
 * @param chunkSizeBytes by which the client finds owners; 0 if it asks for none
 * @param clientOrigins names of the origins that no cache worker can read, so that clients read them; a worker that does not have them is as it should be
 */
public record ClientIdentity(
        String cluster,
        String catalog,
        String node,
        List<NamedOrigin> origins,
        Optional<String> sharedSecret,
        long chunkSizeBytes,
        Set<String> clientOrigins)
{
    /**
     * Of a client that asks for no owners.
     */
    public ClientIdentity(String cluster, String catalog, String node, List<NamedOrigin> origins, Optional<String> sharedSecret)
    {
        this(cluster, catalog, node, origins, sharedSecret, 0, Set.of());
    }

    public ClientIdentity
    {
        requireNonNull(cluster, "cluster is null");
        requireNonNull(catalog, "catalog is null");
        requireNonNull(node, "node is null");
        origins = List.copyOf(origins);
        requireNonNull(sharedSecret, "sharedSecret is null");
        clientOrigins = Set.copyOf(clientOrigins);
    }

    @Override
    public String toString()
    {
        // without the secret
        return "ClientIdentity{cluster=%s, catalog=%s, node=%s, origins=%s, chunkSizeBytes=%s}".formatted(cluster, catalog, node, origins, chunkSizeBytes);
    }
}
