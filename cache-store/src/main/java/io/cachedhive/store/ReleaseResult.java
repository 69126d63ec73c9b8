package io.cachedhive.store;

/**
 * The result of a release.
 *
 * @param files number of file versions released
 * @param blocks number of their blocks, in RAM and on SSD: a block in both tiers counts twice
 * @param bytes of these blocks
 */
public record ReleaseResult(long files, long blocks, long bytes) {}
