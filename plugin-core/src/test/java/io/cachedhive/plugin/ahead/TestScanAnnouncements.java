package io.cachedhive.plugin.ahead;

import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class TestScanAnnouncements
{
    private static final FillTerms HIGH = new FillTerms(Optional.of(FillClass.HIGH), OptionalLong.empty());
    private static final WorkerAddress ONE = new WorkerAddress("host1", 8484);
    private static final WorkerAddress TWO = new WorkerAddress("host2", 8484);
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());

    private record Sent(WorkerAddress worker, int origin, Digest128 scan, String table, List<FileVersion> files, FillTerms terms, CompletableFuture<Void> answer) {}

    private final List<Sent> sent = new ArrayList<>();
    private final ScanAnnouncements announcements = new ScanAnnouncements(
            (worker, origin, scan, table, files, terms) -> {
                CompletableFuture<Void> answer = new CompletableFuture<>();
                sent.add(new Sent(worker, origin, scan, table, files, terms, answer));
                return answer;
            },
            "schema.table");

    private static FileVersion file(int number)
    {
        return new FileVersion(ORIGIN, "s3://bucket/" + number, 1000, 1);
    }

    private static List<SmallFile> files(WorkerAddress owner, int first, int count)
    {
        return IntStream.range(first, first + count).mapToObj(number -> new SmallFile(owner, 0, file(number), FillTerms.UNSPECIFIED)).toList();
    }

    @Test
    void testEachOwnerHearsOfItsFilesInOrder()
    {
        announcements.announce(List.of(
                new SmallFile(ONE, 0, file(1), FillTerms.UNSPECIFIED),
                new SmallFile(TWO, 0, file(2), FillTerms.UNSPECIFIED),
                new SmallFile(ONE, 0, file(3), FillTerms.UNSPECIFIED),
                new SmallFile(ONE, 1, file(4), FillTerms.UNSPECIFIED),
                new SmallFile(ONE, 0, file(5), HIGH)));
        assertThat(sent).extracting(Sent::worker).containsExactly(ONE, TWO, ONE, ONE);
        assertThat(sent).extracting(Sent::origin).containsExactly(0, 0, 1, 0);
        assertThat(sent).extracting(Sent::files).containsExactly(List.of(file(1), file(3)), List.of(file(2)), List.of(file(4)), List.of(file(5)));
        assertThat(sent).extracting(Sent::terms).containsExactly(FillTerms.UNSPECIFIED, FillTerms.UNSPECIFIED, FillTerms.UNSPECIFIED, HIGH);
        assertThat(sent).extracting(Sent::table).containsOnly("schema.table");
        assertThat(sent).extracting(Sent::scan).containsOnly(sent.getFirst().scan());
    }

    @Test
    void testBounded()
    {
        announcements.announce(files(ONE, 0, 2 * ScanAnnouncements.MAX_OUTSTANDING_FILES));
        assertThat(sent).allMatch(message -> message.files().size() <= ScanAnnouncements.FILES_PER_MESSAGE);
        assertThat(sent.stream().mapToInt(message -> message.files().size()).sum()).isEqualTo(ScanAnnouncements.MAX_OUTSTANDING_FILES);

        // room for as many as a worker has done with, or failed at
        int before = sent.size();
        sent.get(0).answer().complete(null);
        sent.get(1).answer().completeExceptionally(new IllegalStateException("away"));
        announcements.announce(files(ONE, 0, 2 * ScanAnnouncements.MAX_OUTSTANDING_FILES));
        assertThat(sent).hasSize(before + 2);
    }

    @Test
    void testCancelTakesBackWhatWaits()
    {
        announcements.announce(files(ONE, 0, 2 * ScanAnnouncements.FILES_PER_MESSAGE));
        sent.get(0).answer().complete(null);
        announcements.cancel();
        assertThat(sent.get(0).answer()).isCompleted();
        assertThat(sent.get(1).answer()).isCancelled();
        announcements.announce(files(ONE, 0, 1));
        assertThat(sent).hasSize(2);
    }

    @Test
    void testFinishLeavesThemToBeRead()
    {
        announcements.announce(files(ONE, 0, 1));
        announcements.finish();
        announcements.cancel();
        assertThat(sent.getFirst().answer()).isNotDone();
    }
}
