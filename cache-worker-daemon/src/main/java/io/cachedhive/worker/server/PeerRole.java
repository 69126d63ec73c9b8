package io.cachedhive.worker.server;

/**
 * What a peer of the block server may request. {@link RequestRoles} lists the role that each request needs.
 */
public enum PeerRole
{
    /**
     * A process that the permissions of the Unix socket admit, and that did not prove the shared secret. It may read
     * and fill blocks, and report what it read.
     */
    READER,
    /**
     * A Trino server or cache worker of the cluster. It may also change rings, pins, quotas and the contents of the
     * cache, and list them.
     */
    CLUSTER;

    /**
     * Returns the role of a peer that has completed its handshake. This is the only place that derives it.
     *
     * @param proven whether the peer proved the shared secret
     * @param secretConfigured whether this cache worker has a shared secret; without one it listens only on the Unix
     * socket, and the permissions of the socket decide who is a part of the cluster
     * @throws IllegalStateException if the handshake admitted a TCP peer that did not prove the secret
     */
    static PeerRole of(Transport transport, boolean proven, boolean secretConfigured)
    {
        if (transport == Transport.TCP && !proven) {
            throw new IllegalStateException("a peer on TCP did not prove the shared secret");
        }
        return proven || !secretConfigured ? CLUSTER : READER;
    }

    /**
     * Returns whether this role includes all rights of another role.
     */
    public boolean includes(PeerRole other)
    {
        return compareTo(other) >= 0;
    }
}
