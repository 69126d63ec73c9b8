package io.cachedhive.store.file;

import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.store.FileMetadata;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Verify.verify;

/**
 * The file versions of which the store has blocks, or had a moment ago. Guarded by the store's lock.
 *
 * <p>Invariants: a file that is not dropped is in {@code byId}; a file with blocks or fills keeps its ordinal; an ordinal is given to
 * another file only when nothing refers to it any more, and no checkpoint is being written that may.
 */
public final class FileTable
{
    // files without blocks are kept for a while: between the bind and the first block, and so that a later fill meets the same ETag
    private static final int MAX_IDLE_FILES = 10_000;

    private final Map<FileVersionId, StoredFile> byId = new HashMap<>();
    private final List<StoredFile> byOrdinal = new ArrayList<>();
    private final List<Integer> freeOrdinals = new ArrayList<>();
    private final List<Integer> heldOrdinals = new ArrayList<>();
    private final LinkedHashSet<StoredFile> idle = new LinkedHashSet<>();
    private int holds;

    public Optional<StoredFile> get(FileVersionId id)
    {
        return Optional.ofNullable(byId.get(id));
    }

    /**
     * @return the file with the ordinal, also if it is dropped
     */
    public StoredFile byOrdinal(int ordinal)
    {
        StoredFile file = byOrdinal.get(ordinal);
        verify(file != null, "no file has the ordinal %s", ordinal);
        return file;
    }

    public int size()
    {
        return byId.size();
    }

    public StoredFile add(FileVersionId id, FileMetadata metadata)
    {
        int ordinal = freeOrdinals.isEmpty() ? byOrdinal.size() : freeOrdinals.removeLast();
        StoredFile file = new StoredFile(id, ordinal, metadata);
        verify(byId.putIfAbsent(id, file) == null, "file %s is bound already", id);
        if (ordinal == byOrdinal.size()) {
            byOrdinal.add(file);
        }
        else {
            byOrdinal.set(ordinal, file);
        }
        idle.add(file);
        while (idle.size() > MAX_IDLE_FILES) {
            StoredFile eldest = idle.getFirst();
            idle.remove(eldest);
            byId.remove(eldest.id());
            eldest.drop();
            free(eldest);
        }
        return file;
    }

    public void confirm(StoredFile file)
    {
        file.confirm();
    }

    /**
     * From now on the file version is unknown; what is left of the old binding has to be removed by the caller.
     */
    public void drop(StoredFile file)
    {
        verify(byId.remove(file.id(), file), "file %s is not in the table", file.id());
        file.drop();
        if (idle.remove(file)) {
            free(file);
        }
    }

    public void addFills(StoredFile file, int count)
    {
        boolean wasIdle = file.isIdle();
        file.addFills(count);
        update(file, wasIdle);
    }

    public void addRamBlocks(StoredFile file, int count)
    {
        boolean wasIdle = file.isIdle();
        file.addRamBlocks(count);
        update(file, wasIdle);
    }

    public void addSsdBlocks(StoredFile file, int count)
    {
        boolean wasIdle = file.isIdle();
        file.addSsdBlocks(count);
        update(file, wasIdle);
    }

    private void update(StoredFile file, boolean wasIdle)
    {
        if (file.isIdle() == wasIdle) {
            return;
        }
        if (wasIdle) {
            idle.remove(file);
        }
        else if (file.isDropped()) {
            free(file);
        }
        else {
            idle.add(file);
        }
    }

    private void free(StoredFile file)
    {
        byOrdinal.set(file.ordinal(), null);
        (holds == 0 ? freeOrdinals : heldOrdinals).add(file.ordinal());
    }

    /**
     * While held, no ordinal is given to another file.
     */
    public void holdOrdinals()
    {
        holds++;
    }

    public void releaseOrdinals()
    {
        holds--;
        if (holds == 0) {
            freeOrdinals.addAll(heldOrdinals);
            heldOrdinals.clear();
        }
    }

    /**
     * @return the file with the ordinal, if there is one that is not dropped
     */
    public Optional<StoredFile> find(int ordinal)
    {
        if (ordinal >= byOrdinal.size()) {
            return Optional.empty();
        }
        return Optional.ofNullable(byOrdinal.get(ordinal)).filter(file -> !file.isDropped());
    }

    /**
     * Ordinals are below this.
     */
    public int ordinalLimit()
    {
        return byOrdinal.size();
    }
}
