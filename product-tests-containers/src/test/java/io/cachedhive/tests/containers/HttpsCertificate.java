package io.cachedhive.tests.containers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A key, and a certificate for the names of hosts that this key signed itself.
 *
 * @param keystore for the servers, in the format PKCS12
 * @param pem the certificate, for clients
 */
record HttpsCertificate(Path keystore, String pem)
{
    static final String KEYSTORE = "https.p12";
    static final String PASSWORD = "changeit";

    HttpsCertificate
    {
        requireNonNull(keystore, "keystore is null");
        requireNonNull(pem, "pem is null");
    }

    static HttpsCertificate create(Path directory, List<String> names)
            throws IOException, InterruptedException
    {
        Path keystore = directory.resolve(KEYSTORE);
        String alternatives = names.stream().map(name -> "dns:" + name).collect(joining(",", "san=", ""));
        keytool(keystore, "-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=hosts", "-ext", alternatives, "-validity", "2", "-storetype", "PKCS12");
        return new HttpsCertificate(keystore, keytool(keystore, "-exportcert", "-rfc"));
    }

    /**
     * The keystore as text.
     */
    String base64()
    {
        try {
            return Base64.getEncoder().encodeToString(Files.readAllBytes(keystore));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String keytool(Path keystore, String... arguments)
            throws IOException, InterruptedException
    {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", "https", "-keystore", keystore.toString(), "-storepass", PASSWORD));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("keytool failed: " + output);
        }
        return output;
    }
}
