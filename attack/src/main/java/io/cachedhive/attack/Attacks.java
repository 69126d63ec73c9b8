package io.cachedhive.attack;

import com.google.common.collect.ImmutableList;
import io.cachedhive.attack.file.ShmSquat;
import io.cachedhive.attack.load.Flood;
import io.cachedhive.attack.load.Heap;
import io.cachedhive.attack.load.Slowloris;
import io.cachedhive.attack.load.Stall;
import io.cachedhive.attack.path.AddressReuse;
import io.cachedhive.attack.path.Flip;
import io.cachedhive.attack.path.Relay;
import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.role.QuotaZero;
import io.cachedhive.attack.role.ReaderFlush;
import io.cachedhive.attack.role.RingFromFuture;
import io.cachedhive.attack.role.TombstoneFromFuture;
import io.cachedhive.attack.stranger.Downgrade;
import io.cachedhive.attack.stranger.LocalPoison;
import io.cachedhive.attack.stranger.TokenReplay;

import java.util.List;
import java.util.Optional;

/**
 * All attacks.
 */
public final class Attacks
{
    private Attacks() {}

    /**
     * Returns a new instance of each attack, in the order of the documentation.
     */
    public static List<Attack> all()
    {
        return ImmutableList.of(
                new LocalPoison(),
                new Relay(),
                new Flip(),
                new AddressReuse(),
                new Downgrade(),
                new RingFromFuture(),
                new TombstoneFromFuture(),
                new QuotaZero(),
                new ReaderFlush(),
                new ShmSquat(),
                new TokenReplay(),
                new Stall(),
                new Slowloris(),
                new Flood(),
                new Heap());
    }

    public static Optional<Attack> named(String name)
    {
        return all().stream().filter(attack -> attack.name().equals(name)).findFirst();
    }
}
