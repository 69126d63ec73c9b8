package io.cachedhive.client;

import io.cachedhive.client.local.LocalTier;
import io.cachedhive.transport.WorkerLink;
import io.cachedhive.transport.WorkerSession;

import java.util.Deque;

import static java.util.Objects.requireNonNull;

/**
 * A worker that owns some of the chunks of a read.
 *
 * @param own whether it is this host's
 * @param otherZone whether it is in another zone than this host's worker
 * @param mapping this host's shared memory if that is where the worker's frames are; null otherwise
 * @param waiting what is still to be asked of it
 */
record Owner(WorkerLink link, WorkerSession session, boolean own, boolean otherZone, LocalTier.Mapping mapping, Deque<BlockRun> waiting)
{
    Owner
    {
        requireNonNull(link, "link is null");
        requireNonNull(session, "session is null");
        requireNonNull(waiting, "waiting is null");
    }

    int blockSizeBytes()
    {
        return session.welcome().blockSizeBytes();
    }
}
