package io.cachedhive.plugin.rules;

import com.google.common.collect.ImmutableList;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.rules.CacheRules.CountedRule;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.wire.FillTerms;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * Decides for the splits of one scan, by the rules that were in force when it began.
 */
public final class ScanRules
{
    // whose conditions on the scan are fulfilled; the last matches all splits
    private final List<CountedRule> rules;
    private final OptionalLong tableQuotaBytes;
    private final Instant now;

    // guarded by this
    private final Map<String, Long> splitsByRule = new LinkedHashMap<>();
    private long scannedBytes;

    ScanRules(CacheRules rules, RuleScan scan, Instant now)
    {
        requireNonNull(scan, "scan is null");
        this.rules = rules.rules().stream()
                .filter(rule -> RuleMatching.matchScan(rule.rule().conditions(), scan))
                .collect(ImmutableList.toImmutableList());
        verify(this.rules.getLast().isDefault(), "there is no default rule");
        // of the first rule that has one: whoever reads, and whatever else decides for the splits, it is the same
        long quotaBytes = this.rules.stream()
                .flatMapToLong(rule -> rule.rule().tableQuotaBytes().stream())
                .findFirst()
                .orElse(FillTerms.NO_QUOTA);
        this.tableQuotaBytes = OptionalLong.of(quotaBytes);
        this.now = requireNonNull(now, "now is null");
    }

    /**
     * To be asked once for each split, in the order in which they are listed.
     */
    public synchronized CacheDecision decide(ScanFile split)
    {
        scannedBytes += split.length();
        for (CountedRule rule : rules) {
            if (RuleMatching.matchSplit(rule.rule().conditions(), split, scannedBytes, now)) {
                if (splitsByRule.merge(rule.rule().name(), 1L, Long::sum) == 1) {
                    rule.counter().addScan(now);
                }
                rule.counter().addSplit(split.length());
                return rule.rule().decision().withTableQuota(tableQuotaBytes);
            }
        }
        throw new IllegalStateException("the default matches every split");
    }

    /**
     * For how many splits each rule decided, by its name; without those that decided for none.
     */
    public synchronized Map<String, Long> splitsByRule()
    {
        return new LinkedHashMap<>(splitsByRule);
    }
}
