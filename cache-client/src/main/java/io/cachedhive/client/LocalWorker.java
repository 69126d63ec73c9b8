package io.cachedhive.client;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;

import java.util.Optional;

/**
 * How the cache worker of this host is, as this client sees it.
 *
 * @param id the worker; the last one seen when it is away, empty if there never was one
 * @param instance the run of its process, likewise
 * @param connected whether it is used
 * @param problem one sentence with its remedy when something is wrong, also when connected
 */
public record LocalWorker(Optional<CacheWorkerId> id, Optional<Digest128> instance, boolean connected, Optional<String> problem) {}
