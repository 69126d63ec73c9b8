package io.cachedhive.attack.load;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Attackers that act at the same time, each with one connection. An attacker whose connection ends opens another one.
 */
final class Swarm
{
    private static final long PAUSE_MILLIS = 1000;
    private static final long JOIN_MILLIS = 60_000;

    private Swarm() {}

    interface Attacker
    {
        /**
         * Opens a connection and uses it until it ends or the thread is interrupted.
         *
         * @param index of the attacker
         */
        void attack(int index)
                throws IOException, InterruptedException;
    }

    /**
     * Runs the attackers for a time.
     *
     * @throws IOException if an attacker does not end
     */
    static void run(int count, Duration duration, Attacker attacker)
            throws IOException, InterruptedException
    {
        List<Thread> threads = new ArrayList<>(count);
        try {
            for (int index = 0; index < count; index++) {
                int number = index;
                threads.add(Thread.ofPlatform().daemon().name("attacker-" + number).start(() -> attackUntilInterrupted(number, attacker)));
            }
            Thread.sleep(duration);
        }
        finally {
            // ends every call on a channel
            threads.forEach(Thread::interrupt);
        }
        for (Thread thread : threads) {
            if (!thread.join(Duration.ofMillis(JOIN_MILLIS))) {
                throw new IOException("an attacker did not end within %s s".formatted(JOIN_MILLIS / 1000));
            }
        }
    }

    private static void attackUntilInterrupted(int index, Attacker attacker)
    {
        while (!Thread.currentThread().isInterrupted()) {
            try {
                try {
                    attacker.attack(index);
                }
                catch (IOException _) {
                    // refused
                }
                Thread.sleep(PAUSE_MILLIS);
            }
            catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
