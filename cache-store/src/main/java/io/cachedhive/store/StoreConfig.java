package io.cachedhive.store;

import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.encryption.KeySource;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The configuration of a store. {@link BlockStore#open} rejects values that contradict each other or exceed the
 * machine.
 *
 * @param ramDirectory {@code cache.ram.directory}: a directory on tmpfs
 * @param ramMaxSizeBytes {@code cache.ram.max-size}: total size of the shared-memory file
 * @param guestMaxShare {@code cache.guest-max-share}: limit on guest blocks, as a fraction of the RAM tier, from 0 to 1
 * @param pinnedMaxShare {@code cache.pinned-max-share}: limit on pinned blocks, as a fraction of the SSD tier, or of
 *         the RAM tier when there is no SSD, from 0 to 1
 * @param sharedGroup {@code cache.worker.socket-group}: the group that may read the shared-memory file; if empty, only
 *         the owner may
 * @param blockSizeBytes {@code cache.block-size}: a power of two from 64 KiB to 8 MiB
 * @param ssdDirectories {@code cache.ssd.directories} and their sizes; may be empty
 * @param stateDirectory {@code cache.state-directory}: stores the cache worker id when there is no SSD; created if
 *         missing
 * @param ttl {@code cache.ttl}: default time to live of a block
 * @param checkpointInterval least interval between checkpoints of a changed SSD index, unless its journal is long
 * @param encryptionKey {@code cache.encryption.*}: where the key comes from that protects the SSD and state directories;
 *         they are not encrypted if this is empty
 */
public record StoreConfig(
        Path ramDirectory,
        long ramMaxSizeBytes,
        double guestMaxShare,
        double pinnedMaxShare,
        Optional<String> sharedGroup,
        int blockSizeBytes,
        List<SsdDirectoryConfig> ssdDirectories,
        Path stateDirectory,
        Duration ttl,
        Duration checkpointInterval,
        Optional<KeySource> encryptionKey)
{
    public static final Path DEFAULT_RAM_DIRECTORY = Path.of("/dev/shm");
    public static final long DEFAULT_RAM_MAX_SIZE_BYTES = 1L << 30;
    public static final double DEFAULT_GUEST_MAX_SHARE = 0.1;
    public static final double DEFAULT_PINNED_MAX_SHARE = 0.8;
    public static final int DEFAULT_BLOCK_SIZE_BYTES = 1 << 20;
    public static final Duration DEFAULT_TTL = Duration.ofDays(7);
    private static final Duration DEFAULT_CHECKPOINT_INTERVAL = Duration.ofMinutes(1);

    public StoreConfig
    {
        requireNonNull(ramDirectory, "ramDirectory is null");
        if (!(guestMaxShare >= 0 && guestMaxShare <= 1)) {
            throw new IllegalArgumentException("share of guests is not between 0 and 1: " + guestMaxShare);
        }
        if (!(pinnedMaxShare >= 0 && pinnedMaxShare <= 1)) {
            throw new IllegalArgumentException("share of pinned blocks is not between 0 and 1: " + pinnedMaxShare);
        }
        requireNonNull(sharedGroup, "sharedGroup is null");
        ssdDirectories = List.copyOf(ssdDirectories);
        requireNonNull(stateDirectory, "stateDirectory is null");
        requireNonNull(ttl, "ttl is null");
        requireNonNull(checkpointInterval, "checkpointInterval is null");
        requireNonNull(encryptionKey, "encryptionKey is null");
    }

    /**
     * Returns the defaults, without SSD.
     */
    public static StoreConfig ramOnly(Path stateDirectory)
    {
        return new StoreConfig(
                DEFAULT_RAM_DIRECTORY,
                DEFAULT_RAM_MAX_SIZE_BYTES,
                DEFAULT_GUEST_MAX_SHARE,
                DEFAULT_PINNED_MAX_SHARE,
                Optional.empty(),
                DEFAULT_BLOCK_SIZE_BYTES,
                List.of(),
                stateDirectory,
                DEFAULT_TTL,
                DEFAULT_CHECKPOINT_INTERVAL,
                Optional.empty());
    }

    public StoreConfig withRam(Path directory, long maxSizeBytes)
    {
        return new StoreConfig(
                directory,
                maxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withGuestMaxShare(double share)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                share,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withPinnedMaxShare(double share)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                share,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withSharedGroup(Optional<String> group)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                group,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withBlockSize(int bytes)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                bytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withSsdDirectories(List<SsdDirectoryConfig> directories)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                directories,
                stateDirectory,
                ttl,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withTtl(Duration value)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                value,
                checkpointInterval,
                encryptionKey);
    }

    public StoreConfig withCheckpointInterval(Duration interval)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                interval,
                encryptionKey);
    }

    public StoreConfig withEncryptionKey(Optional<KeySource> key)
    {
        return new StoreConfig(
                ramDirectory,
                ramMaxSizeBytes,
                guestMaxShare,
                pinnedMaxShare,
                sharedGroup,
                blockSizeBytes,
                ssdDirectories,
                stateDirectory,
                ttl,
                checkpointInterval,
                key);
    }
}
