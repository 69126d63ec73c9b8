package io.cachedhive.attack.stranger;

import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.protocol.security.HttpProof;
import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.HttpProof.Request;

import java.io.IOException;
import java.util.Optional;
import java.util.Set;

/**
 * An attacker who saw the proof of one GET sends it again: to the same cache worker, with another method, for another
 * path, and to another cache worker.
 */
public final class TokenReplay
        implements Attack
{
    private static final String PATH = "/v1/status";

    @Override
    public String name()
    {
        return "token-replay";
    }

    @Override
    public String description()
    {
        return "the proof of one HTTP request is sent again, for another request, and to another cache worker";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of(Need.SECRET, Need.HTTP);
    }

    @Override
    public boolean isCounted()
    {
        return false;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        HttpApi http = target.http().orElseThrow();
        String secret = target.secret().orElseThrow();

        String used = proof(http, secret);
        int first = http.send("GET", PATH, "Authorization", used).statusCode();
        if (first != 200) {
            throw new IOException("the proof of the secret was answered with status %s: --secret-file must have the secret of this cache worker".formatted(first));
        }
        Optional<String> accepted = replay(http, "GET", PATH, used, "the used proof of GET " + PATH);
        if (accepted.isEmpty()) {
            accepted = replay(http, "POST", "/v1/drain", proof(http, secret), "a proof of GET " + PATH);
        }
        if (accepted.isEmpty()) {
            accepted = replay(http, "POST", PATH, proof(http, secret), "a proof of GET " + PATH);
        }
        if (accepted.isEmpty()) {
            accepted = replay(http, "GET", "/v1/tables", proof(http, secret), "a proof of GET " + PATH);
        }
        if (accepted.isEmpty() && target.own().isPresent()) {
            accepted = replay(target.own().get().second().http(), "GET", PATH, proof(http, secret), "the proof for another cache worker");
        }
        return accepted;
    }

    private static Optional<String> replay(HttpApi http, String method, String path, String proof, String description)
            throws IOException, InterruptedException
    {
        int status = http.send(method, path, "Authorization", proof).statusCode();
        return status == 401 ? Optional.empty() : Optional.of("%s %s with %s was answered with status %s instead of 401".formatted(method, path, description, status));
    }

    private static String proof(HttpApi http, String secret)
            throws IOException, InterruptedException
    {
        Challenge challenge = http.challenge(PATH).orElseThrow(() -> new IOException("%s%s sent no challenge for a request without a proof".formatted(http.uri(), PATH)));
        return HttpProof.authorization(secret, new Request("GET", PATH, http.authority()), challenge, System.currentTimeMillis());
    }
}
