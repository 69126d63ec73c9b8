package io.cachedhive.client;

/**
 * What an origin tells of a file now.
 *
 * @param length bytes
 * @param lastModifiedMillis milliseconds since the epoch
 */
public record FileState(long length, long lastModifiedMillis) {}
