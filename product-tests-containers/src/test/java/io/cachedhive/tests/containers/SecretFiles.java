package io.cachedhive.tests.containers;

import java.util.List;

/**
 * Finds the files on a host that have a secret.
 */
final class SecretFiles
{
    private SecretFiles() {}

    /**
     * Searches everything on the host's own disk and in its shared memory, except for jars.
     *
     * @return of each file its user, group, mode and path
     */
    static List<String> with(ContainerHost host, String secret)
    {
        return host.mustRun("find / /dev/shm -xdev -type f ! -name '*.jar' -print0 | xargs -0 grep -lsF -e '%s' | xargs -r stat -c '%%U %%G %%a %%n'".formatted(secret))
                .lines()
                .toList();
    }
}
