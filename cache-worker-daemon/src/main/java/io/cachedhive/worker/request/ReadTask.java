package io.cachedhive.worker.request;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.store.BlockOrigin;
import io.cachedhive.store.LoadListener;
import io.cachedhive.store.LoadRefusal;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.fetch.FetchTarget;
import io.cachedhive.worker.fetch.KeptTerms;
import io.cachedhive.worker.fetch.OverloadCause;
import io.cachedhive.worker.fetch.SharedBytes;
import io.cachedhive.worker.lease.FillLeases.LeaseTarget;
import io.cachedhive.worker.lease.LeaseWaiter;
import io.cachedhive.worker.server.Connection;
import io.cachedhive.worker.server.Transport;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static java.util.Objects.requireNonNull;

/**
 * Handles a READ request. Each block comes from RAM immediately, from SSD through another thread, from the origin
 * through the fetcher, or from another client under a lease.
 */
final class ReadTask
        implements LeaseWaiter, ActiveRequests.Active
{
    private final ReadServices services;
    private final ClientRequest request;
    private final Connection connection;
    private final ReadMessage.Read read;
    private final FillTerms terms;
    private final FileVersionId file;
    private final Optional<FetchTarget> target;
    private final boolean inline;
    private final int blockSizeBytes;
    private final AtomicInteger left;
    // written before other threads see this task; null for none
    private BitSet fetchedAhead;
    private final AtomicBoolean fetchingSaid = new AtomicBoolean();
    private volatile boolean cancelled;

    /**
     * @param terms the terms on which the blocks are kept
     * @param target empty if this worker cannot fetch the file
     */
    ReadTask(ReadServices services, ClientRequest request, ReadMessage.Read read, FillTerms terms, FileVersionId file, Optional<FetchTarget> target)
    {
        this.services = requireNonNull(services, "services is null");
        this.request = requireNonNull(request, "request is null");
        this.connection = request.connection();
        this.read = requireNonNull(read, "read is null");
        this.terms = requireNonNull(terms, "terms is null");
        this.file = requireNonNull(file, "file is null");
        this.target = requireNonNull(target, "target is null");
        this.inline = read.inline() || connection.transport() == Transport.TCP;
        this.blockSizeBytes = services.inFlight().store().blockSizeBytes();
        this.left = new AtomicInteger(read.blockCount());
    }

    void start()
    {
        List<Integer> missing = new ArrayList<>();
        for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
            BlockKey key = file.block(block);
            boolean ahead = services.fetchAhead().clearPrefetched(key.digest());
            services.inFlight().store().recordRequest(key, read.file().blockLength(block, blockSizeBytes), ahead);
            if (ahead) {
                if (fetchedAhead == null) {
                    fetchedAhead = new BitSet();
                }
                fetchedAhead.set(block - read.firstBlock());
            }
        }
        for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
            if (!answerFromRam(block) && !loadFromSsd(block)) {
                missing.add(block);
            }
        }
        if (!missing.isEmpty()) {
            fetch(missing);
        }
    }

    private boolean answerFromRam(int block)
    {
        Optional<PinnedBlock> pinned = services.inFlight().store().pin(file.block(block));
        pinned.ifPresent(found -> answer(block, ramSource(block), found));
        return pinned.isPresent();
    }

    /**
     * Returns REMOTE for a block that was fetched ahead of this read. It came from the origin for this read, so it is
     * not a hit.
     */
    private Source ramSource(int block)
    {
        boolean knownAhead = fetchedAhead != null && fetchedAhead.get(block - read.firstBlock());
        // the block may have been announced and fetched since the check in start
        return knownAhead || services.fetchAhead().clearPrefetched(file.block(block).digest()) ? Source.REMOTE : Source.RAM;
    }

    private boolean loadFromSsd(int block)
    {
        if (!services.inFlight().store().isOnSsd(file.block(block))) {
            return false;
        }
        services.inFlight().store().load(file.block(block), new Load(block));
        return true;
    }

    private final class Load
            implements LoadListener
    {
        private final int block;

        private Load(int block)
        {
            this.block = block;
        }

        @Override
        public boolean isCancelled()
        {
            return cancelled;
        }

        @Override
        public void loaded(PinnedBlock loaded)
        {
            answer(block, loaded.tier() == BlockOrigin.RAM ? Source.RAM : Source.SSD, loaded);
        }

        @Override
        public void absent()
        {
            if (!cancelled) {
                fetch(ImmutableList.of(block));
            }
        }

        @Override
        public void refused(LoadRefusal cause)
        {
            overloaded(block, switch (cause) {
                case DIRECTORY -> OverloadCause.LOAD_QUEUE;
                case FRAMES -> OverloadCause.FRAMES;
            });
        }
    }

    private void fetch(List<Integer> missing)
    {
        if (!read.mayFill()) {
            missing.forEach(block -> failed(block, NoCause.ABSENT));
        }
        else if (target.isEmpty() || target.get().origin().health().isDenied(target.get().location().bucket())) {
            missing.forEach(this::lease);
        }
        else if (target.get().origin().health().isPaused(target.get().location().bucket())) {
            missing.forEach(block -> failed(block, NoCause.ORIGIN_FAILED));
        }
        else {
            sayFetching();
            services.fetcher().fetch(target.get(), missing, Priority.READ, this);
            if (cancelled) {
                // another thread cancelled this task before the fetcher knew it
                services.fetcher().abandon(file, this);
            }
        }
    }

    private void overloaded(int block, OverloadCause cause)
    {
        services.inFlight().counters().addOverloaded(cause, 1);
        failed(block, NoCause.OVERLOADED);
    }

    private void lease(int block)
    {
        sayFetching();
        LeaseTarget leaseTarget = new LeaseTarget(read.file(), file.block(block), read.file().blockLength(block, blockSizeBytes), read.table(), terms);
        services.leases().ask(leaseTarget, this);
        if (cancelled) {
            services.leases().abandon(this);
        }
    }

    private void sayFetching()
    {
        if (fetchingSaid.compareAndSet(false, true)) {
            request.send(new Fetching());
        }
    }

    @Override
    public void stored(int block)
    {
        answerStored(block, Source.REMOTE);
    }

    @Override
    public void handedOver(int block)
    {
        // clients of the previous release do not know PEER and do not send their chunk size
        answerStored(block, connection.chunkSizeBytes() > 0 ? Source.PEER : Source.REMOTE);
    }

    private void answerStored(int block, Source source)
    {
        Optional<PinnedBlock> pinned = services.inFlight().store().pin(file.block(block));
        if (pinned.isPresent()) {
            answer(block, source, pinned.get());
        }
        else {
            // dropped after the fetch, for instance by a flush, which does not mean that the file changed
            failed(block, NoCause.ABSENT);
        }
    }

    @Override
    public void bytes(int block, SharedBytes bytes)
    {
        if (!cancelled) {
            connection.send(new BytesAnswer(request.id(), block, read.range(), bytes, services.inFlight().counters()));
        }
        answered();
    }

    @Override
    public void present(int block)
    {
        if (answerFromRam(block) || loadFromSsd(block)) {
            return;
        }
        // the block was evicted in the meantime
        fetch(ImmutableList.of(block));
    }

    @Override
    public void denied(int block)
    {
        lease(block);
    }

    @Override
    public void failed(int block, NoCause cause)
    {
        if (!cancelled) {
            request.send(new BlockNo(block, cause));
        }
        answered();
    }

    @Override
    public Object owner()
    {
        return connection;
    }

    @Override
    public boolean mayLease()
    {
        return read.mayLease() && !cancelled;
    }

    @Override
    public void leased(int block, long lease)
    {
        if (cancelled) {
            services.leases().release(connection, lease);
        }
        else {
            request.send(new BlockLease(block, lease));
        }
        answered();
    }

    private void answer(int block, Source source, PinnedBlock pinned)
    {
        if (cancelled) {
            pinned.close();
        }
        else {
            // the block may have been cached before, or fetched for another read
            terms.fillClass().ifPresent(fillClass -> services.inFlight().store().setClass(file.block(block).digest(), KeptTerms.blockClass(fillClass)));
            connection.send(new BlockAnswer(services.inFlight(), request.id(), file.block(block), read.range(), source, inline, pinned));
        }
        answered();
    }

    private void answered()
    {
        if (left.decrementAndGet() == 0) {
            request.end();
        }
    }

    @Override
    public void cancel()
    {
        cancelled = true;
        services.fetcher().abandon(file, this);
        services.leases().abandon(this);
    }
}
