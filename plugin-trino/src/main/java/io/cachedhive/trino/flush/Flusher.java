package io.cachedhive.trino.flush;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.membership.WorkerNotices;
import io.cachedhive.plugin.membership.WorkerNotices.Answer;
import io.cachedhive.protocol.file.Tombstone;
import io.trino.spi.TrinoException;
import io.trino.spi.catalog.CatalogName;

import java.util.List;
import java.util.Optional;

import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.PROCEDURE_CALL_FAILED;
import static java.util.Objects.requireNonNull;

/**
 * Flushes on all cache workers, for procedures.
 */
final class Flusher
{
    private static final Logger log = Logger.get(Flusher.class);

    // a cache worker applies one flush after another
    private static final long FLUSH_MILLIS = 600_000;

    private final String catalog;
    private final WorkerNotices notices;

    @Inject
    Flusher(CatalogName catalog, WorkerNotices notices)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.notices = requireNonNull(notices, "notices is null");
    }

    /**
     * Returns when all cache workers that answer have flushed. An unreachable cache worker applies the flush when it is back.
     *
     * @param subject what is flushed, for messages: a table or a location
     * @throws TrinoException if no cache worker answers, or one that answers did not flush
     */
    void flush(String subject, List<Tombstone> tombstones)
    {
        if (!notices.isAnyAnswering()) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker of catalog %s answers, so the flush of %s cannot be recorded: start one and call again".formatted(
                    catalog,
                    subject));
        }
        try {
            check(subject, notices.flush("the flush of " + subject, tombstones, FLUSH_MILLIS));
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted; the cache workers continue with the request", e);
        }
    }

    private static void check(String subject, List<Answer<Optional<String>>> answers)
    {
        if (answers.stream().noneMatch(answer -> answer.failure().isEmpty())) {
            throw new TrinoException(PROCEDURE_CALL_FAILED, "no cache worker took the flush of %s (%s): call it again".formatted(
                    subject,
                    answers.getLast().failure().orElseThrow()));
        }
        for (Answer<Optional<String>> answer : answers) {
            if (answer.failure().isPresent() && answer.answers()) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "%s is not flushed on cache worker %s (%s): call it again".formatted(
                        subject,
                        answer.address(),
                        answer.failure().get()));
            }
            Optional<String> problem = answer.answer().flatMap(said -> said);
            if (problem.isPresent()) {
                throw new TrinoException(PROCEDURE_CALL_FAILED, "blocks of %s are no longer served, but the flush may be lost on cache worker %s: %s".formatted(
                        subject,
                        answer.address(),
                        problem.get()));
            }
            answer.failure().ifPresent(failure -> log.info(
                    "Cache worker %s does not answer (%s): it will be notified of the flush of %s when it is back", answer.address(), failure, subject));
        }
    }
}
