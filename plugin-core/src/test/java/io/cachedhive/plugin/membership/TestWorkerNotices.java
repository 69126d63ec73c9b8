package io.cachedhive.plugin.membership;

import io.cachedhive.plugin.membership.WorkerNotices.Answer;
import io.cachedhive.plugin.membership.WorkerNotices.Question;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.WorkerException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.cachedhive.plugin.membership.PlaceState.ANSWERING;
import static io.cachedhive.plugin.membership.PlaceState.GRACE;
import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class TestWorkerNotices
{
    private static final WorkerAddress UP = new WorkerAddress("127.0.0.1", 1);
    private static final WorkerAddress AWAY = new WorkerAddress("127.0.0.2", 1);

    private final Map<WorkerAddress, PlaceState> states = new ConcurrentHashMap<>(Map.of(UP, ANSWERING, AWAY, GRACE));
    private final Set<WorkerAddress> refusing = ConcurrentHashMap.newKeySet();
    private final Map<WorkerAddress, Integer> asked = new ConcurrentHashMap<>();
    private final Map<WorkerAddress, Integer> told = new ConcurrentHashMap<>();

    private List<Place> places()
    {
        return states.entrySet().stream()
                .map(state -> new Place(state.getKey(), state.getValue(), Optional.empty(), Optional.empty(), Optional.empty(), 0, Optional.empty(), 0))
                .toList();
    }

    private WorkerNotices notices()
    {
        return new WorkerNotices("lake", this::places, () -> null, 1);
    }

    private Question<String> question()
    {
        return (_, address, _) -> {
            asked.merge(address, 1, Integer::sum);
            if (states.get(address) != ANSWERING || refusing.contains(address)) {
                return CompletableFuture.failedFuture(new IllegalStateException("it cannot"));
            }
            told.merge(address, 1, Integer::sum);
            return CompletableFuture.completedFuture("done");
        };
    }

    private static Answer<String> of(WorkerAddress address, List<Answer<String>> answers)
    {
        return answers.stream().filter(answer -> answer.address().equals(address)).findFirst().orElseThrow();
    }

    @Test
    void testGoesOnUntilItIsTold()
            throws Exception
    {
        WorkerNotices notices = notices();
        List<Answer<String>> answers = notices.notifyWorkers("something", 1000, question());
        assertThat(of(UP, answers)).isEqualTo(new Answer<>(UP, Optional.of("done"), Optional.empty(), true));
        assertThat(of(AWAY, answers)).isEqualTo(new Answer<>(AWAY, Optional.empty(), Optional.of("it cannot"), false));
        // it comes back, and cannot do it at first
        refusing.add(AWAY);
        int before = asked.get(AWAY);
        states.put(AWAY, ANSWERING);
        Await.until("it is asked five times more", () -> asked.get(AWAY) >= before + 5);
        refusing.clear();
        Await.until("it is notified", () -> told.containsKey(AWAY));
        notices.close();
        assertThat(told).isEqualTo(Map.of(UP, 1, AWAY, 1));
    }

    @Test
    void testEndsWithThePlace()
            throws Exception
    {
        WorkerNotices notices = notices();
        notices.notifyWorkers("something", 1000, question());
        assertThat(notices.waiting()).isPositive();
        states.remove(AWAY);
        Await.until("nobody is waited for", () -> notices.waiting() == 0);
        assertThat(told).isEqualTo(Map.of(UP, 1));
        notices.close();
    }

    /**
     * A worker that does not know the question, say, will not know it the next time.
     */
    @Test
    void testGivesUpAWorkerThatRefuses()
            throws Exception
    {
        WorkerNotices notices = notices();
        Map<WorkerAddress, Integer> refused = new ConcurrentHashMap<>();
        notices.notifyWorkers("something", 1000, (_, address, _) -> {
            if (address.equals(UP)) {
                return CompletableFuture.completedFuture("done");
            }
            refused.merge(address, 1, Integer::sum);
            return CompletableFuture.failedFuture(new CompletionException(new WorkerException(WorkerException.Reason.PROTOCOL, "what is that?")));
        });
        assertThat(notices.waiting()).isEqualTo(1);
        states.put(AWAY, ANSWERING);
        Await.until("nobody is waited for", () -> notices.waiting() == 0);
        assertThat(refused.get(AWAY)).isBetween(3, 30);
        notices.close();
    }

    @Test
    void testKeepsNoPlaceAfterAnException()
            throws Exception
    {
        WorkerNotices notices = notices();
        AtomicBoolean broken = new AtomicBoolean();
        notices.notifyWorkers("something", 1000, (_, address, _) -> {
            if (broken.get()) {
                throw new IllegalArgumentException("something is wrong with the question");
            }
            return address.equals(UP) ? CompletableFuture.completedFuture("done") : CompletableFuture.failedFuture(new IllegalStateException("it cannot"));
        });
        assertThat(notices.waiting()).isEqualTo(1);
        broken.set(true);
        states.put(AWAY, ANSWERING);
        Await.until("nobody is waited for", () -> notices.waiting() == 0);
        notices.close();
    }

    @Test
    void testTellsNobodyWhatNobodyTook()
            throws Exception
    {
        refusing.add(UP);
        WorkerNotices notices = notices();
        List<Answer<String>> answers = notices.notifyWorkers("something", 1000, question());
        assertThat(answers).allMatch(answer -> answer.failure().isPresent());
        assertThat(of(UP, answers).answers()).isTrue();
        assertThat(asked.get(UP)).isEqualTo(3);
        assertThat(notices.waiting()).isZero();
        notices.close();
    }
}
