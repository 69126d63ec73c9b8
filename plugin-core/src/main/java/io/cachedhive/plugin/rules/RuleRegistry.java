package io.cachedhive.plugin.rules;

import io.airlift.log.Logger;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.plugin.event.EventType;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.plugin.rules.RulesParser.ParsedRules;
import io.cachedhive.rules.PreloadSchedule;
import io.cachedhive.rules.RulesException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * The rules of a catalog, from its rules file, if it has one. The file is looked at when rules are asked for, at most once in a refresh period; nobody waits for
 * another's look. As long as it is broken, the rules before stay in force.
 */
public final class RuleRegistry
{
    private static final Logger log = Logger.get(RuleRegistry.class);

    private final String catalog;
    private final Optional<Path> file;
    private final long refreshNanos;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final CacheEvents events;

    private final ReentrantLock lock = new ReentrantLock();
    // guarded by the lock
    private byte[] content = new byte[0];
    private volatile long checkedNanos;
    private volatile CacheRules rules;
    private volatile Optional<CacheMode> mode = Optional.empty();
    private volatile List<PreloadSchedule> preloads = List.of();
    private volatile Optional<String> problem = Optional.empty();

    private RuleRegistry(String catalog, Optional<Path> file, Duration refreshPeriod, InstantSource clock, LongSupplier nanoTime, CacheEvents events)
            throws RulesException
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.file = requireNonNull(file, "file is null");
        this.refreshNanos = refreshPeriod.toNanos();
        this.clock = requireNonNull(clock, "clock is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.events = requireNonNull(events, "events is null");
        this.checkedNanos = nanoTime.getAsLong();
        List<CacheRule> first = List.of();
        if (file.isPresent()) {
            content = read();
            ParsedRules parsed = parse(content);
            first = parsed.rules();
            mode = parsed.mode();
            preloads = parsed.preloads();
            log.info("Catalog %s has %s rules from %s", catalog, first.size(), file.get());
            addLoaded(first);
            mode.ifPresent(ruled -> addMode(Optional.of(ruled)));
        }
        this.rules = CacheRules.of(first, clock.instant(), Optional.empty());
    }

    /**
     * @param file empty to cache everything
     * @param clock by which partitions have their age
     * @param events receives each change of the rules
     * @throws RulesException if the file is broken now
     */
    public static RuleRegistry open(String catalog, Optional<Path> file, Duration refreshPeriod, InstantSource clock, LongSupplier nanoTime, CacheEvents events)
            throws RulesException
    {
        return new RuleRegistry(catalog, file, refreshPeriod, clock, nanoTime, events);
    }

    /**
     * Everything is cached, for ever.
     */
    public static RuleRegistry withoutFile(String catalog)
    {
        try {
            return new RuleRegistry(catalog, Optional.empty(), Duration.ZERO, InstantSource.system(), System::nanoTime, new CacheEvents(InstantSource.system()));
        }
        catch (RulesException e) {
            throw new AssertionError("there is no file that could be broken", e);
        }
    }

    private byte[] read()
            throws RulesException
    {
        Path path = file.orElseThrow();
        try {
            return Files.readAllBytes(path);
        }
        catch (NoSuchFileException _) {
            throw new RulesException("rules file %s does not exist on the coordinator: write it there, or correct cachedhive.rules-file of catalog %s".formatted(path, catalog));
        }
        catch (IOException e) {
            throw new RulesException("rules file %s of catalog %s cannot be read: make it readable for the user that Trino runs as (%s)".formatted(path, catalog, e));
        }
    }

    private ParsedRules parse(byte[] json)
            throws RulesException
    {
        try {
            return RulesParser.parse(json);
        }
        catch (RulesException e) {
            throw new RulesException("rules file %s of catalog %s: %s".formatted(file.orElseThrow(), catalog, e.getMessage()));
        }
    }

    /**
     * Decides for a scan that begins now.
     */
    public ScanRules begin(RuleScan scan)
    {
        return new ScanRules(current(), scan, clock.instant());
    }

    public boolean hasFile()
    {
        return file.isPresent();
    }

    /**
     * The cache's mode, if the file says one.
     */
    public Optional<CacheMode> mode()
    {
        current();
        return mode;
    }

    /**
     * The preload schedules in force.
     */
    public List<PreloadSchedule> preloads()
    {
        current();
        return preloads;
    }

    /**
     * Those in force.
     */
    public CacheRules current()
    {
        if (file.isPresent() && nanoTime.getAsLong() - checkedNanos >= refreshNanos && lock.tryLock()) {
            try {
                reload();
            }
            catch (RulesException _) {
                // kept as the problem, and logged
            }
            finally {
                lock.unlock();
            }
        }
        return rules;
    }

    /**
     * What is wrong with the file as it was when it was looked at last; empty if those are the rules in force.
     */
    public Optional<String> problem()
    {
        return problem;
    }

    /**
     * Looks at the file now.
     *
     * @throws RulesException if it is broken, or there is none; the rules in force stay
     */
    public void refresh()
            throws RulesException
    {
        if (file.isEmpty()) {
            throw new RulesException("catalog %s has no rules file: set cachedhive.rules-file".formatted(catalog));
        }
        lock.lock();
        try {
            reload();
        }
        finally {
            lock.unlock();
        }
    }

    private void reload()
            throws RulesException
    {
        checkedNanos = nanoTime.getAsLong();
        try {
            byte[] json = read();
            if (!Arrays.equals(json, content) || problem.isPresent()) {
                ParsedRules parsed = parse(json);
                if (!Arrays.equals(json, content)) {
                    Instant loaded = clock.instant();
                    rules = CacheRules.of(parsed.rules(), loaded, Optional.of(rules));
                    if (!mode.equals(parsed.mode())) {
                        addMode(parsed.mode());
                    }
                    mode = parsed.mode();
                    preloads = parsed.preloads();
                    content = json;
                }
                problem = Optional.empty();
                addLoaded(parsed.rules());
                log.info("Catalog %s has %s rules from %s now", catalog, parsed.rules().size(), file.orElseThrow());
            }
        }
        catch (RulesException e) {
            String sentence = "%s; until then the rules of %s stay in force".formatted(e.getMessage(), rules.loaded());
            if (!problem.equals(Optional.of(sentence))) {
                problem = Optional.of(sentence);
                log.warn(sentence);
                events.add(EventType.RULES, sentence);
            }
            throw new RulesException(sentence);
        }
    }

    private void addLoaded(List<CacheRule> loaded)
    {
        events.add(EventType.RULES, "loaded %s rules from %s".formatted(loaded.size(), file.orElseThrow()));
        loaded.forEach(rule -> rule.problem().ifPresent(sentence -> log.warn("Catalog %s: %s", catalog, sentence)));
    }

    private void addMode(Optional<CacheMode> ruled)
    {
        events.add(EventType.MODE, "mode of the rules file: " + ruled.map(CacheMode::name).orElse("none"));
    }
}
