package io.cachedhive.transport;

import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.transport.tls.Certificates;

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
 * @param secrets the shared secrets, proven to cache workers and required of them over TCP; never sent
 * @param chunkSizeBytes by which the client finds owners; 0 if it asks for none
 * @param isolationDomain description of the isolation domain of the S3 origin, for messages
 * @param clientOrigins names of the origins that no cache worker can read, so that clients read them; a worker that does not have them is as it should be
 * @param certificates presented to cache workers, and used to check theirs, over TCP; empty to rely on the shared secret alone
 */
public record ClientIdentity(
        String cluster,
        String catalog,
        String node,
        List<NamedOrigin> origins,
        Secrets secrets,
        long chunkSizeBytes,
        String isolationDomain,
        Set<String> clientOrigins,
        Optional<Certificates> certificates)
{
    /**
     * Of a client that asks for no owners.
     */
    public ClientIdentity(String cluster, String catalog, String node, List<NamedOrigin> origins, Secrets secrets)
    {
        this(cluster, catalog, node, origins, secrets, 0, IsolationDomain.NONE.description(), Set.of(), Optional.empty());
    }

    public ClientIdentity
    {
        requireNonNull(cluster, "cluster is null");
        requireNonNull(catalog, "catalog is null");
        requireNonNull(node, "node is null");
        origins = List.copyOf(origins);
        requireNonNull(secrets, "secrets is null");
        requireNonNull(isolationDomain, "isolationDomain is null");
        clientOrigins = Set.copyOf(clientOrigins);
        requireNonNull(certificates, "certificates is null");
    }

    /**
     * Returns this identity with the certificates that it presents to cache workers and checks theirs with over TCP.
     */
    public ClientIdentity withCertificates(Optional<Certificates> certificates)
    {
        return new ClientIdentity(cluster, catalog, node, origins, secrets, chunkSizeBytes, isolationDomain, clientOrigins, certificates);
    }

    @Override
    public String toString()
    {
        // without the secret
        return "ClientIdentity{cluster=%s, catalog=%s, node=%s, origins=%s, chunkSizeBytes=%s}".formatted(cluster, catalog, node, origins, chunkSizeBytes);
    }
}
