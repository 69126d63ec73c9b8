package io.cachedhive.store;

/**
 * The result of a flush.
 *
 * @param files number of file versions dropped
 * @param durable false if a crash may bring them back until they are flushed again
 */
public record FlushResult(long files, boolean durable) {}
