package io.cachedhive.attack.plan;

import io.cachedhive.attack.setting.Target;

import java.io.IOException;
import java.util.Optional;
import java.util.Set;

/**
 * One attack on a cache worker or on its clients.
 */
public interface Attack
{
    /**
     * What an attack needs of its target, beside the block port.
     */
    enum Need
    {
        SECRET("--secret-file"),
        SOCKET("--socket"),
        HTTP("--http-port"),
        OWN_WORKER("cache workers of its own: leave out --target");

        private final String text;

        Need(String text)
        {
            this.text = text;
        }

        /**
         * Returns the option that provides it.
         */
        public String text()
        {
            return text;
        }
    }

    String name();

    /**
     * Describes the attack in one line.
     */
    String description();

    Set<Need> needs();

    /**
     * Whether the cache worker counts this attack as rejected connections or requests.
     */
    boolean isCounted();

    /**
     * Attacks.
     *
     * @return one sentence on what the attacker achieved; empty if the attack was refused
     * @throws IOException if the attack could not be made
     */
    Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException;

    /**
     * Checks for what the attack left in the cache worker. Called after the attack, and again after a restart of the
     * cache worker.
     *
     * @return one sentence on what it left; empty for nothing
     */
    default Optional<String> leftovers(Target target)
            throws IOException, InterruptedException
    {
        return Optional.empty();
    }
}
