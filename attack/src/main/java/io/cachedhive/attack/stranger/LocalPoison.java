package io.cachedhive.attack.stranger;

import com.google.common.collect.ImmutableList;
import io.cachedhive.attack.plan.Attack;
import io.cachedhive.attack.plan.Pressure;
import io.cachedhive.attack.setting.HttpApi;
import io.cachedhive.attack.setting.Sample;
import io.cachedhive.attack.setting.Target;
import io.cachedhive.attack.wire.WireConnection;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.security.HandshakeProof;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.HandshakeMessage.Challenge;
import io.cachedhive.protocol.wire.HandshakeMessage.Hello;
import io.cachedhive.protocol.wire.HandshakeMessage.Proof;
import io.cachedhive.protocol.wire.InvalidationMessage.Flush;
import io.cachedhive.protocol.wire.Message;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * A local user without the secret reads, poisons, flushes and drains the cache over the loopback address.
 */
public final class LocalPoison
        implements Attack
{
    private static final List<String> PATHS = ImmutableList.of("/v1/status", "/v1/stats", "/v1/tables", "/v1/drain", "/v1/ssd-format");

    // 64 KiB that are not the bytes of the file
    private final Sample poison = Sample.of("poison");

    @Override
    public String name()
    {
        return "local-poison";
    }

    @Override
    public String description()
    {
        return "a local user without the secret reads, poisons, flushes and drains the cache";
    }

    @Override
    public Set<Need> needs()
    {
        return Set.of();
    }

    @Override
    public boolean isCounted()
    {
        return true;
    }

    @Override
    public Optional<String> run(Target target, Pressure pressure)
            throws IOException, InterruptedException
    {
        for (boolean tls : List.of(true, false)) {
            for (Forgery forgery : Forgery.values()) {
                Optional<String> answer = attempt(target, tls, forgery);
                if (answer.isPresent()) {
                    return Optional.of("a peer %s TLS and %s got the answer %s on the block port".formatted(tls ? "with" : "without", forgery.text, answer.get()));
                }
            }
        }
        return target.http().isPresent() ? overHttp(target.http().get()) : Optional.empty();
    }

    private enum Forgery
    {
        NOTHING("without a handshake"),
        HELLO("without a proof"),
        EMPTY("with an empty proof"),
        RANDOM("with a random proof"),
        REFLECTED("with the cache worker's own proof");

        private final String text;

        Forgery(String text)
        {
            this.text = text;
        }
    }

    private Optional<String> attempt(Target target, boolean tls, Forgery forgery)
    {
        try (WireConnection connection = tls ? WireConnection.tls(target.socketAddress()) : WireConnection.plain(target.socketAddress())) {
            if (forgery != Forgery.NOTHING) {
                Hello hello = WireConnection.newHello(Sample.ORIGINS);
                connection.send(0, hello);
                Challenge challenge = connection.expect(Challenge.class);
                switch (forgery) {
                    case EMPTY -> connection.send(0, new Proof(new byte[0]));
                    case RANDOM -> {
                        byte[] proof = new byte[HandshakeProof.PROOF_BYTES];
                        new Random(1).nextBytes(proof);
                        connection.send(0, new Proof(proof));
                    }
                    case REFLECTED -> connection.send(0, new Proof(challenge.proofs().isEmpty() ? new byte[0] : challenge.proofs().getFirst()));
                    case NOTHING, HELLO -> {}
                }
            }
            connection.send(1, offer(target.sample(), poison.bytes()));
            connection.send(2, offer(poison, poison.bytes()));
            connection.send(3, target.sample().read(false));
            connection.send(4, new Flush(List.of(new Tombstone(new Digest128(1, 1), Sample.ORIGIN, Sample.DIRECTORY, System.currentTimeMillis())), true));
            Message answer = connection.receive();
            return answer instanceof ControlMessage.Error ? Optional.empty() : Optional.of(answer.type().name());
        }
        catch (IOException _) {
            // refused
            return Optional.empty();
        }
    }

    private static OfferGuest offer(Sample sample, byte[] bytes)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return new OfferGuest(0, sample.file(), 0, Sample.TABLE, 0, (int) checksum.getValue(), ByteBuffer.wrap(bytes));
    }

    private static Optional<String> overHttp(HttpApi http)
            throws IOException, InterruptedException
    {
        for (String path : PATHS) {
            for (String method : List.of("GET", "POST", "DELETE")) {
                int status = http.send(method, path).statusCode();
                if (status != 401 && status != 403) {
                    return Optional.of("%s %s without a proof was answered with status %s instead of 401".formatted(method, path, status));
                }
            }
        }
        return Optional.empty();
    }

    @Override
    public Optional<String> leftovers(Target target)
            throws IOException
    {
        return target.canRead() && target.isCached(poison) ? Optional.of("the cache has a block that a stranger offered") : Optional.empty();
    }
}
