package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The runs that the disk of a directory may have, compared with the run that another place has, and the drops that the
 * directory may lack.
 *
 * <p>A directory is outdated while another place has a later run than its disk. Nothing is restored from it then, so no
 * drop can come back. A drop that the directory may lack is counted here <i>before</i> anyone relies on the directory
 * being outdated. Until a checkpoint that began after the drop is complete, the directory must not get a later run in
 * any other way ({@link #attempt}).
 *
 * <p>Methods never wait for a disk, so a hung directory can be outdated too. Checkpoints and other writes of the run
 * are serialized by {@link DirectoryCheckpoints}.
 */
final class DirectoryRuns
{
    // the last run that is durable in any place
    @GuardedBy("this")
    private long last;
    // the highest run that a write of the superblock, even a failed one, may have left on disk
    @GuardedBy("this")
    private long attempted;
    // the number of drops that the disk may lack, and how many of the first ones a complete checkpoint has
    @GuardedBy("this")
    private long lacking;
    @GuardedBy("this")
    private long recovered;

    /**
     * The run of a checkpoint, and the state before it began.
     *
     * @param run the run that the checkpoint proves to know
     */
    record CheckpointRun(long run, long attemptedBefore, long lacking) {}

    DirectoryRuns(long run)
    {
        this.last = run;
        this.attempted = run;
    }

    /**
     * Returns whether another place has a later run than this disk, so that nothing is restored from it.
     */
    synchronized boolean isOutdated()
    {
        return last > attempted;
    }

    /**
     * Returns whether the disk may lack a drop.
     */
    synchronized boolean isLacking()
    {
        return lacking > recovered;
    }

    /**
     * Counts a drop that the disk may lack.
     *
     * @return whether the directory is outdated, so that the drop cannot come back
     */
    synchronized boolean lack()
    {
        lacking++;
        return last > attempted;
    }

    /**
     * Counts a drop that the disk may lack, if the directory is outdated.
     *
     * @return whether the directory is outdated, so that the drop cannot come back
     */
    synchronized boolean lackIfOutdated()
    {
        return last > attempted && lack();
    }

    /**
     * Announces that the run is written without a checkpoint.
     *
     * @return false if the directory may lack drops, and must not get the run
     */
    synchronized boolean attempt(long run)
    {
        if (isLacking()) {
            return false;
        }
        attempted = Math.max(attempted, run);
        return true;
    }

    /**
     * Records a run that is durable in some place.
     */
    synchronized void setLast(long run)
    {
        last = Math.max(last, run);
    }

    /**
     * Begins a checkpoint, which will have all drops counted so far. From now on the directory is not outdated, because
     * the checkpoint may become complete at any time.
     */
    synchronized CheckpointRun beginCheckpoint()
    {
        CheckpointRun begun = new CheckpointRun(last, attempted, lacking);
        attempted = Math.max(attempted, last);
        return begun;
    }

    /**
     * Records that the checkpoint is complete, and the superblock has its run.
     */
    synchronized void checkpointed(CheckpointRun checkpoint)
    {
        recovered = Math.max(recovered, checkpoint.lacking());
    }

    /**
     * Records that the checkpoint failed before its run was written to the superblock.
     */
    synchronized void checkpointFailed(CheckpointRun checkpoint)
    {
        attempted = checkpoint.attemptedBefore();
    }
}
