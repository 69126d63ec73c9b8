package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.settings.CertificateFile.Role;
import io.cachedhive.admin.settings.HostFile.Reader;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The paths on a host from which its cache worker or its catalogs read certificates, as the configuration on this
 * machine has them.
 *
 * @param keystores of certificate and key
 * @param truststores of the authorities
 * @param password of the key
 */
public record CertificatePlaces(List<String> keystores, List<String> truststores, Optional<String> password)
{
    private static final String WORKER_KEYSTORE = "internal-communication.https.keystore.path";
    private static final String WORKER_PASSWORD = "internal-communication.https.keystore.key";
    private static final String WORKER_TRUSTSTORE = "internal-communication.https.truststore.path";
    private static final String CLIENT_KEYSTORE = "cachedhive.worker.tls.keystore-path";
    private static final String CLIENT_PASSWORD = "cachedhive.worker.tls.keystore-password";
    private static final String CLIENT_TRUSTSTORE = "cachedhive.worker.tls.truststore-path";

    public CertificatePlaces
    {
        keystores = List.copyOf(keystores);
        truststores = List.copyOf(truststores);
    }

    /// @param catalogs by name, as they are on this machine
    /// @param truststore whether there must be a path for one
    /// @throws ClusterFileException if a path is not configured
    public static CertificatePlaces of(ClusterHost host, Role role, Map<String, String> catalogs, boolean truststore)
            throws ClusterFileException
    {
        if (role == Role.WORKER) {
            String where = "worker-properties";
            return new CertificatePlaces(
                    List.of(path(host, where, host.workerProperties(), WORKER_KEYSTORE, host.installDirectory() + "/etc/tls/worker.pem")),
                    truststore ? List.of(path(host, where, host.workerProperties(), WORKER_TRUSTSTORE, host.installDirectory() + "/etc/tls/authorities.pem")) : List.of(),
                    Optional.ofNullable(host.workerProperties().get(WORKER_PASSWORD)));
        }
        Set<String> keystores = new LinkedHashSet<>();
        Set<String> truststores = new LinkedHashSet<>();
        Optional<String> password = Optional.empty();
        for (Map.Entry<String, String> catalog : catalogs.entrySet()) {
            Map<String, String> properties = PropertiesText.read(catalog.getValue());
            if (!CacheConnectors.isCached(properties)) {
                continue;
            }
            String where = "the catalog " + catalog.getKey();
            keystores.add(path(host, where, properties, CLIENT_KEYSTORE, host.trinoEtc() + "/cachedhive-tls/client.pem"));
            if (truststore) {
                truststores.add(path(host, where, properties, CLIENT_TRUSTSTORE, host.trinoEtc() + "/cachedhive-tls/authorities.pem"));
            }
            password = password.or(() -> Optional.ofNullable(properties.get(CLIENT_PASSWORD)));
        }
        if (keystores.isEmpty()) {
            throw new ClusterFileException("%s: there is no cachedhive catalog in the configuration directory, which would read the certificate: add one.".formatted(host));
        }
        return new CertificatePlaces(List.copyOf(keystores), List.copyOf(truststores), password);
    }

    private static String path(ClusterHost host, String where, Map<String, String> properties, String name, String proposal)
            throws ClusterFileException
    {
        String path = properties.get(name);
        if (path == null || !path.startsWith("/") || path.endsWith("/")) {
            String problem = path == null ? "is not set" : "is not an absolute path of a file (%s)".formatted(path);
            throw new ClusterFileException(("%s: %s of %s %s: set it to the path of a file on the host, such as %s. Then push the certificate, "
                    + "run cache-admin config push, and restart.").formatted(host, name, where, problem, proposal));
        }
        return path;
    }

    /// The files of a host.
    public List<HostFile> files(Role role, String certificate, Optional<String> authorities)
    {
        Reader reader = role == Role.WORKER ? Reader.CACHE_WORKER : Reader.TRINO;
        List<HostFile> files = new ArrayList<>();
        // authorities first: a peer with a certificate of a new authority is then known
        authorities.ifPresent(text -> truststores.forEach(path -> files.add(new HostFile(path, reader, text))));
        keystores.forEach(path -> files.add(new HostFile(path, reader, certificate, true)));
        return files;
    }
}
