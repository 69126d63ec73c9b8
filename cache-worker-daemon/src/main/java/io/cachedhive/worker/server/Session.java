package io.cachedhive.worker.server;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.worker.origin.Origin;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The identity of a connection's peer, from its handshake.
 *
 * @param origins in the client's order
 */
public record Session(String cluster, String catalog, String node, List<SessionOrigin> origins)
{
    public Session
    {
        requireNonNull(cluster, "cluster is null");
        requireNonNull(catalog, "catalog is null");
        requireNonNull(node, "node is null");
        origins = ImmutableList.copyOf(origins);
    }

    /**
     * An origin of the client.
     *
     * @param id the client's id of the origin
     * @param origin the worker's origin of the same name, if it is the same store
     */
    public record SessionOrigin(OriginId id, OriginStatus status, Optional<Origin> origin)
    {
        public SessionOrigin
        {
            requireNonNull(id, "id is null");
            requireNonNull(status, "status is null");
            requireNonNull(origin, "origin is null");
            if (origin.isPresent() != (status == OriginStatus.KNOWN)) {
                throw new IllegalArgumentException("an origin is known if, and only if, it is there: " + status);
            }
        }

        /**
         * Returns why the worker serves and keeps no blocks of a file.
         *
         * @return empty if it does
         */
        public Optional<NoCause> refusal(FileVersion file)
        {
            if (status == OriginStatus.MISMATCH) {
                return Optional.of(NoCause.ORIGIN_MISMATCH);
            }
            return origin.filter(known -> !known.allowedLocations().permit(file.location()))
                    .map(_ -> NoCause.LOCATION_NOT_ALLOWED);
        }
    }
}
