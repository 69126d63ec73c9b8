package io.cachedhive.transport.tls;

import io.cachedhive.protocol.ring.CacheWorkerId;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * The name of a peer in its certificate: a URI in the subject alternative name, {@code cachedhive://CLUSTER/client},
 * {@code cachedhive://CLUSTER/worker/ID} with a cache worker id, or {@code cachedhive://CLUSTER/worker/*}.
 *
 * @param worker the id of the cache worker; empty for clients, and for a certificate that any cache worker of the
 * cluster may have
 */
public record CertificateName(String cluster, Role role, Optional<CacheWorkerId> worker)
{
    private static final int URI_TYPE = 6;
    private static final String SCHEME = "cachedhive:";
    private static final String ANY_WORKER = "*";
    private static final Pattern NAME = Pattern.compile(SCHEME + "//([A-Za-z0-9._-]{1,64})/(?:client|worker/(\\*|[A-Za-z0-9._-]{1,64}))");

    /**
     * What the owner of a certificate is.
     */
    public enum Role
    {
        WORKER("worker"),
        CLIENT("client");

        private final String text;

        Role(String text)
        {
            this.text = text;
        }

        /**
         * Returns whether a peer with this role may act in the other role. A cache worker reads from other cache workers
         * and is then their client.
         */
        boolean permits(Role other)
        {
            return this == WORKER || other == CLIENT;
        }

        @Override
        public String toString()
        {
            return text;
        }
    }

    public CertificateName
    {
        requireNonNull(cluster, "cluster is null");
        requireNonNull(role, "role is null");
        requireNonNull(worker, "worker is null");
    }

    /**
     * Reads the name from a certificate.
     *
     * @return empty if the certificate has not exactly one valid name
     */
    static Optional<CertificateName> of(X509Certificate certificate)
    {
        Collection<List<?>> alternatives;
        try {
            alternatives = certificate.getSubjectAlternativeNames();
        }
        catch (CertificateParsingException _) {
            return Optional.empty();
        }
        if (alternatives == null) {
            return Optional.empty();
        }
        List<String> names = alternatives.stream()
                .filter(alternative -> alternative.get(0).equals(URI_TYPE))
                .map(alternative -> (String) alternative.get(1))
                .filter(uri -> uri.startsWith(SCHEME))
                .toList();
        if (names.size() != 1) {
            return Optional.empty();
        }
        Matcher matcher = NAME.matcher(names.getFirst());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String worker = matcher.group(2);
        if (worker == null) {
            return Optional.of(new CertificateName(matcher.group(1), Role.CLIENT, Optional.empty()));
        }
        return Optional.of(new CertificateName(
                matcher.group(1),
                Role.WORKER,
                worker.equals(ANY_WORKER) ? Optional.empty() : Optional.of(new CacheWorkerId(worker))));
    }

    @Override
    public String toString()
    {
        return "cachedhive://%s/%s".formatted(cluster, role == Role.CLIENT ? role : "%s/%s".formatted(role, worker.map(CacheWorkerId::value).orElse(ANY_WORKER)));
    }
}
