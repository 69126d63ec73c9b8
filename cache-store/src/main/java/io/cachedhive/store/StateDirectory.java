package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.WireException;
import io.cachedhive.protocol.wire.WireReader;
import io.cachedhive.protocol.wire.WireWriter;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.Disk;
import io.cachedhive.store.encryption.DataCipher;
import io.cachedhive.store.encryption.KeyFile;
import io.cachedhive.store.encryption.OperatorKey;
import io.cachedhive.store.ssd.SsdMounts;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * The directory of a worker's durable state, locked by the running worker. Its files:
 * <ul>
 * <li>{@code worker-id}: the id of the cache worker
 * <li>{@code run}: how many times its store was opened
 * <li>{@code ssd-mounts}: the last mount points of its SSD directories
 * <li>{@code table-quotas}: magic number, CRC32C of the rest, then a list of string and long; as a whole encrypted if
 *     there is a {@link KeyFile}
 * </ul>
 */
final class StateDirectory
        implements Closeable
{
    private static final Logger log = Logger.get(StateDirectory.class);

    private static final long QUOTAS_MAGIC = 0x3141544f55514843L; // CHQUOTA1
    private static final String TABLE_QUOTAS_NAME = "table-quotas";
    private static final byte[] QUOTAS_PLACE = TABLE_QUOTAS_NAME.getBytes(UTF_8);
    private static final Pattern RUN = Pattern.compile("(?<id>\\S+) (?<run>[0-9]{1,15})\\s*");

    private final Path directory;
    private final Disk disk;
    private final Closeable lock;
    private final StoreEnvironment environment;
    private final Optional<DataCipher> cipher;

    private StateDirectory(Path directory, StoreEnvironment environment, Closeable lock, Optional<DataCipher> cipher)
    {
        this.directory = requireNonNull(directory, "directory is null");
        this.environment = requireNonNull(environment, "environment is null");
        this.disk = environment.disk();
        this.lock = requireNonNull(lock, "lock is null");
        this.cipher = requireNonNull(cipher, "cipher is null");
    }

    /**
     * @param operatorKey encrypts the directory; empty if it is not to be encrypted
     * @throws StoreException if the directory is in use, not writable, or encrypted with another key
     */
    static StateDirectory open(Path directory, StoreEnvironment environment, Optional<OperatorKey> operatorKey)
            throws StoreException
    {
        Disk disk = environment.disk();
        try {
            disk.createDirectories(directory);
            Closeable lock = disk.tryLock(directory.resolve("lock"))
                    .orElseThrow(() -> new StoreException("cache.state-directory %s is in use by another cache worker: stop it, or name another directory".formatted(directory)));
            boolean success = false;
            try {
                StateDirectory opened = new StateDirectory(directory, environment, lock, openKey(directory, disk, operatorKey));
                success = true;
                return opened;
            }
            finally {
                if (!success) {
                    lock.close();
                }
            }
        }
        catch (IOException e) {
            throw new StoreException("cache.state-directory %s cannot be used (%s): let this user write there, or name another".formatted(directory, e.getMessage()), e);
        }
    }

    private static Optional<DataCipher> openKey(Path directory, Disk disk, Optional<OperatorKey> operatorKey)
            throws IOException, StoreException
    {
        KeyFile.Opened key = KeyFile.open(directory, disk, operatorKey).requireKey("cache.state-directory " + directory);
        if (operatorKey.isEmpty() || key.cipher().isPresent()) {
            return key.cipher();
        }
        return Optional.of(KeyFile.create(directory, disk, operatorKey.get()));
    }

    /**
     * Returns what encrypts the other files of the directory; empty if they are not encrypted.
     */
    Optional<DataCipher> cipher()
    {
        return cipher;
    }

    /**
     * Returns the stored id of the cache worker.
     */
    Optional<CacheWorkerId> findWorkerId()
            throws StoreException
    {
        Path file = file();
        try {
            return disk.read(file).map(content -> new CacheWorkerId(new String(content, UTF_8).strip()));
        }
        catch (IOException | IllegalArgumentException e) {
            throw new StoreException("%s does not hold a cache worker id (%s): write the worker's id into it, or remove it to get a new one".formatted(file, e.getMessage()), e);
        }
    }

    void keepWorkerId(CacheWorkerId workerId)
            throws StoreException
    {
        try {
            disk.replace(file(), (workerId + "\n").getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException(
                    "the cache worker id cannot be written to %s (%s): let this user write there, or name another cache.state-directory".formatted(file(), e.getMessage()),
                    e);
        }
    }

    /**
     * Returns the number of the worker's last run; 0 if unknown.
     */
    long lastRun(CacheWorkerId workerId)
    {
        try {
            Matcher matcher = RUN.matcher(disk.read(runFile()).map(content -> new String(content, UTF_8)).orElse(""));
            return matcher.matches() && matcher.group("id").equals(workerId.value()) ? Long.parseLong(matcher.group("run")) : 0;
        }
        catch (IOException e) {
            return 0;
        }
    }

    void keepRun(CacheWorkerId workerId, long run)
            throws StoreException
    {
        try {
            disk.replace(runFile(), "%s %s\n".formatted(workerId, run).getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException("%s cannot be written (%s): let this user write there, or name another cache.state-directory".formatted(runFile(), e.getMessage()), e);
        }
    }

    /**
     * Returns the last known mount points of the SSD directories.
     */
    SsdMounts ssdMounts()
    {
        Path file = directory.resolve("ssd-mounts");
        try {
            return SsdMounts.parse(file, disk.read(file).map(content -> new String(content, UTF_8)).orElse(""));
        }
        catch (IOException e) {
            return new SsdMounts(file, Map.of());
        }
    }

    void keepSsdMounts(SsdMounts mounts)
            throws StoreException
    {
        if (mounts.equals(ssdMounts())) {
            return;
        }
        try {
            disk.replace(mounts.file(), mounts.format().getBytes(UTF_8));
        }
        catch (IOException e) {
            throw new StoreException("%s cannot be written (%s): let this user write there, or name another cache.state-directory".formatted(mounts.file(), e.getMessage()), e);
        }
    }

    /**
     * Returns the quotas by table, in bytes over all cache workers. Ignores an unreadable file, because the next read
     * of each table carries its quota.
     */
    Map<String, Long> tableQuotas()
    {
        Path file = quotasFile();
        try {
            Optional<byte[]> content = disk.read(file);
            if (content.isEmpty()) {
                return Map.of();
            }
            WireReader reader = new WireReader(ByteBuffer.wrap(decrypt(content.get())));
            if (reader.getLong() != QUOTAS_MAGIC) {
                throw new WireException("it is something else");
            }
            long checksum = reader.getLong();
            ByteBuffer body = reader.getRest();
            if (checksum(body) != checksum) {
                throw new WireException("its checksum is another");
            }
            Map<String, Long> quotas = new TreeMap<>();
            for (Map.Entry<String, Long> quota : new WireReader(body).getList(in -> Map.entry(in.getString(), in.getLong()))) {
                if (quota.getValue() >= 0) {
                    quotas.put(quota.getKey(), quota.getValue());
                }
            }
            return quotas;
        }
        catch (IOException e) {
            log.warn("Quotas of tables in %s cannot be read (%s): readers send them again", file, e.getMessage());
            return Map.of();
        }
    }

    private byte[] decrypt(byte[] content)
            throws IOException
    {
        if (cipher.isEmpty()) {
            return content;
        }
        try {
            return cipher.get().open(QUOTAS_PLACE, content);
        }
        catch (DataCipher.UnauthenticException e) {
            // it may be from the time before the directory was encrypted
            disk.delete(quotasFile());
            throw e;
        }
    }

    void keepTableQuotas(Map<String, Long> quotas)
            throws IOException
    {
        ByteBuffer body = new WireWriter(1024)
                .putList(quotas.entrySet(), (out, quota) -> out.putString(quota.getKey()).putLong(quota.getValue()))
                .finish();
        ByteBuffer file = new WireWriter(16 + body.remaining())
                .putLong(QUOTAS_MAGIC)
                .putLong(checksum(body))
                .putRest(body)
                .finish();
        byte[] content = new byte[file.remaining()];
        file.get(content);
        disk.replace(quotasFile(), cipher.map(present -> present.seal(QUOTAS_PLACE, content)).orElse(content));
    }

    private static long checksum(ByteBuffer body)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(body.duplicate());
        return checksum.getValue();
    }

    Path quotasFile()
    {
        return directory.resolve(TABLE_QUOTAS_NAME);
    }

    private Path runFile()
    {
        return directory.resolve("run");
    }

    CacheWorkerId newWorkerId()
    {
        HexFormat hex = HexFormat.of();
        return new CacheWorkerId(hex.toHexDigits(environment.random().nextLong()) + hex.toHexDigits(environment.random().nextLong()));
    }

    private Path file()
    {
        return directory.resolve("worker-id");
    }

    @Override
    public void close()
            throws IOException
    {
        lock.close();
    }
}
