package io.cachedhive.worker.lease;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.FillMessage;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.ByteBudget;
import io.cachedhive.worker.fetch.SharedBytes;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.lease.FillLeases.LeaseTarget;
import io.cachedhive.worker.testing.ManualTimer;
import io.cachedhive.worker.testing.TestingStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

class TestFillLeases
{
    private static final Instant START = Instant.parse("2026-03-01T12:00:00.700Z");

    @TempDir
    private Path directory;

    private final ManualTimer timer = new ManualTimer(START);
    private final WorkerCounters counters = new WorkerCounters();
    private final byte[] bytes = new byte[BLOCK_SIZE];
    private final FileVersion settled = version(START.minusSeconds(3600));
    private TestingStore store;
    private FillLeases leases;

    @BeforeEach
    void setUp()
    {
        new Random(1).nextBytes(bytes);
        store = new TestingStore(directory, BLOCK_SIZE, 4 << 20);
        leases = new FillLeases(store.store(), counters, timer, new ByteBudget(1 << 20));
    }

    @AfterEach
    void tearDown()
    {
        store.close();
    }

    private static FileVersion version(Instant lastModified)
    {
        return new FileVersion(OriginId.of("hdfs", Optional.empty(), Optional.empty()), "hdfs://namenode/file", BLOCK_SIZE, lastModified.toEpochMilli());
    }

    private static LeaseTarget target(FileVersion version)
    {
        return new LeaseTarget(version, version.id().block(0), BLOCK_SIZE, "schema.table", FillTerms.UNSPECIFIED);
    }

    private static final class RecordingWaiter
            implements LeaseWaiter
    {
        private final Object owner;
        private final boolean mayLease;
        private final List<String> outcomes = new ArrayList<>();
        private long lease;
        private byte[] received = new byte[0];

        private RecordingWaiter(Object owner, boolean mayLease)
        {
            this.owner = owner;
            this.mayLease = mayLease;
        }

        @Override
        public Object owner()
        {
            return owner;
        }

        @Override
        public boolean mayLease()
        {
            return mayLease;
        }

        @Override
        public void leased(int block, long lease)
        {
            this.lease = lease;
            outcomes.add("leased");
        }

        @Override
        public void stored(int block)
        {
            outcomes.add("stored");
        }

        @Override
        public void bytes(int block, SharedBytes bytes)
        {
            received = new byte[bytes.payload().remaining()];
            bytes.payload().get(received);
            outcomes.add("bytes");
        }

        @Override
        public void present(int block)
        {
            outcomes.add("present");
        }

        @Override
        public void denied(int block)
        {
            outcomes.add("denied");
        }

        @Override
        public void failed(int block, NoCause cause)
        {
            outcomes.add(cause.name());
        }
    }

    private RecordingWaiter ask(FileVersion version, Object owner, boolean mayLease)
    {
        RecordingWaiter waiter = new RecordingWaiter(owner, mayLease);
        leases.ask(target(version), waiter);
        return waiter;
    }

    private RecordingWaiter ask(Object owner)
    {
        return ask(settled, owner, true);
    }

    private FillMessage.Fill offer(long lease, FileVersion seen)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return new FillMessage.Fill(lease, seen.length(), seen.lastModifiedMillis(), (int) checksum.getValue(), ByteBuffer.wrap(bytes));
    }

    private boolean isStored(FileVersion version)
    {
        Optional<PinnedBlock> pinned = store.store().pin(version.id().block(0));
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent();
    }

    @Test
    void testOneReadsAndTheOthersWait()
    {
        RecordingWaiter first = ask("one");
        RecordingWaiter second = ask("two");
        RecordingWaiter third = ask(settled, "three", false);
        assertThat(first.outcomes).containsExactly("leased");
        assertThat(second.outcomes).isEmpty();

        assertThat(leases.fill("one", offer(first.lease, settled)).join()).isEmpty();
        assertThat(second.outcomes).containsExactly("stored");
        assertThat(third.outcomes).containsExactly("stored");
        assertThat(isStored(settled)).isTrue();
        assertThat(leases.leaseCount()).isZero();
        assertThat(timer.scheduledCount()).isZero();
        assertThat(ask("four").outcomes).containsExactly("present");
    }

    @Test
    void testWaitingEnds()
    {
        RecordingWaiter first = ask("one");
        RecordingWaiter second = ask("two");
        timer.advance(Duration.ofMillis(1999));
        assertThat(second.outcomes).isEmpty();
        timer.advance(Duration.ofMillis(1));
        assertThat(second.outcomes).containsExactly("LEASE_TIMEOUT");
        // the holder may still come
        assertThat(leases.fill("one", offer(first.lease, settled)).join()).isEmpty();
        assertThat(isStored(settled)).isTrue();
    }

    @Test
    void testLeasePassesOn()
    {
        RecordingWaiter first = ask("one");
        RecordingWaiter cannot = ask(settled, "two", false);
        RecordingWaiter next = ask("three");
        leases.release("somebody else", first.lease);
        assertThat(next.outcomes).isEmpty();
        leases.release("one", first.lease);
        assertThat(cannot.outcomes).isEmpty();
        assertThat(next.outcomes).containsExactly("leased");
        assertThat(leases.fill("one", offer(first.lease, settled)).join()).isPresent();
        assertThat(leases.fill("three", offer(next.lease, settled)).join()).isEmpty();
        assertThat(cannot.outcomes).containsExactly("stored");
    }

    @Test
    void testLeaseEndsWithItsConnectionOrAfterItsTime()
    {
        ask("one");
        RecordingWaiter second = ask("two");
        leases.closed("one");
        assertThat(second.outcomes).containsExactly("leased");

        timer.advance(Duration.ofSeconds(9));
        RecordingWaiter third = ask("three");
        timer.advance(Duration.ofSeconds(1));
        assertThat(third.outcomes).containsExactly("leased");
        assertThat(leases.fill("two", offer(second.lease, settled)).join()).contains("the lease is not of this connection, or has ended");

        timer.advance(Duration.ofSeconds(20));
        assertThat(leases.leaseCount()).isZero();
        assertThat(timer.scheduledCount()).isZero();
    }

    @Test
    void testOffersThatAreRefused()
    {
        RecordingWaiter first = ask("one");
        assertThat(leases.fill("two", offer(first.lease, settled)).join()).contains("the lease is not of this connection, or has ended");
        assertThat(leases.fill("one", offer(first.lease + 1, settled)).join()).isPresent();

        FillMessage.Fill right = offer(first.lease, settled);
        FillMessage.Fill tooShort = new FillMessage.Fill(first.lease, right.observedLength(), right.observedLastModifiedMillis(), right.checksum(), ByteBuffer.allocate(10));
        assertThat(leases.fill("one", tooShort).join().orElseThrow()).contains("bytes");
        // the lease ended with the offer
        assertThat(leases.fill("one", right).join()).isPresent();

        RecordingWaiter second = ask("one");
        FillMessage.Fill wrong = new FillMessage.Fill(second.lease, right.observedLength(), right.observedLastModifiedMillis(), right.checksum() + 1, ByteBuffer.wrap(bytes));
        assertThat(leases.fill("one", wrong).join().orElseThrow()).contains("checksum");

        RecordingWaiter third = ask("one");
        assertThat(leases.fill("one", offer(third.lease, version(START))).join()).contains("the file has another version now");
        assertThat(isStored(settled)).isFalse();
    }

    @Test
    void testReplacedFileIsDropped()
    {
        RecordingWaiter first = ask("one");
        assertThat(leases.fill("one", offer(first.lease, settled)).join()).isEmpty();
        FileVersion two = new FileVersion(settled.origin(), settled.location(), 2L * BLOCK_SIZE, settled.lastModifiedMillis());
        RecordingWaiter waiter = new RecordingWaiter("one", true);
        leases.ask(new LeaseTarget(two, two.id().block(0), BLOCK_SIZE, "t", FillTerms.UNSPECIFIED), waiter);
        assertThat(leases.fill("one", offer(waiter.lease, two)).join()).isEmpty();
        RecordingWaiter other = new RecordingWaiter("one", true);
        leases.ask(new LeaseTarget(two, two.id().block(1), BLOCK_SIZE, "t", FillTerms.UNSPECIFIED), other);
        assertThat(leases.fill("one", offer(other.lease, settled)).join()).isPresent();

        assertThat(isStored(two)).isFalse();
        assertThat(counters.versionChanges()).isEqualTo(1);
        assertThat(isStored(settled)).as("another version of the same file is not touched").isTrue();
    }

    @Test
    void testProvisionalVersionServesOnlyThoseWhoWait()
    {
        FileVersion fresh = version(START);
        RecordingWaiter first = ask(fresh, "one", true);
        RecordingWaiter second = ask(fresh, "two", true);
        assertThat(leases.fill("one", offer(first.lease, fresh)).join()).isEmpty();
        assertThat(second.outcomes).containsExactly("bytes");
        assertThat(second.received).isEqualTo(bytes);
        assertThat(isStored(fresh)).isFalse();

        timer.advance(Duration.ofSeconds(2));
        RecordingWaiter later = ask(fresh, "one", true);
        assertThat(later.outcomes).containsExactly("leased");
        assertThat(leases.fill("one", offer(later.lease, fresh)).join()).isEmpty();
        assertThat(isStored(fresh)).isTrue();
    }

    @Test
    void testWhoMayNotReadIsNotKeptWaitingForNobody()
    {
        assertThat(ask(settled, "one", false).outcomes).containsExactly("ABSENT");
    }

    @Test
    void testFileWithETag()
    {
        store.store().bind(settled, Optional.of("\"etag\""), false, "");
        assertThat(ask("one").outcomes).containsExactly("ORIGIN_FAILED");
    }

    @Test
    void testFileBoundMeanwhile()
    {
        RecordingWaiter first = ask("one");
        store.store().bind(settled, Optional.of("\"etag\""), false, "");
        assertThat(leases.fill("one", offer(first.lease, settled)).join().orElseThrow()).contains("ETag");
        assertThat(store.store().file(settled.id()).orElseThrow().etagDigest()).isEqualTo(ETags.digest("\"etag\""));
    }

    @Test
    void testAbandon()
    {
        RecordingWaiter first = ask("one");
        RecordingWaiter second = ask("two");
        leases.abandon(second);
        leases.release("one", first.lease);
        assertThat(second.outcomes).isEmpty();
        assertThat(leases.leaseCount()).isZero();
        assertThat(timer.scheduledCount()).isZero();
    }
}
