package io.cachedhive.attack.load;

import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLEngine;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The first record of a TLS connection. A server that receives it computes a key agreement and a signature; the sender
 * need not compute anything.
 */
final class ClientHello
{
    private ClientHello() {}

    static ByteBuffer create()
            throws IOException
    {
        SSLEngine engine = TlsContexts.secretClient().createSSLEngine();
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(new String[] {"TLSv1.3"});
        ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), record);
        return record.flip().asReadOnlyBuffer();
    }
}
