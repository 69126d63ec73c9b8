package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import com.google.common.net.HostAndPort;
import io.airlift.units.Duration;
import io.cachedhive.worker.origin.S3OriginConfig.AuthType;
import io.cachedhive.worker.origin.S3OriginConfig.RetryMode;
import io.cachedhive.worker.origin.S3OriginConfig.SignerType;
import io.cachedhive.worker.origin.S3OriginConfig.SseKmsCaching;
import io.cachedhive.worker.origin.S3OriginConfig.SseType;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static io.airlift.configuration.testing.ConfigAssertions.assertFullMapping;
import static io.airlift.configuration.testing.ConfigAssertions.assertRecordedDefaults;
import static io.airlift.configuration.testing.ConfigAssertions.recordDefaults;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

class TestS3OriginConfig
{
    @Test
    void testDefaults()
    {
        assertRecordedDefaults(recordDefaults(S3OriginConfig.class)
                .setAwsAccessKey(null)
                .setAwsSecretKey(null)
                .setEndpoint(null)
                .setRegion(null)
                .setPathStyleAccess(false)
                .setAuthType(AuthType.DEFAULT)
                .setIamRole(null)
                .setRoleSessionName("trino-filesystem")
                .setExternalId(null)
                .setStsEndpoint(null)
                .setStsRegion(null)
                .setSseType(SseType.NONE)
                .setSignerType(null)
                .setRequesterPays(false)
                .setMaxConnections(500)
                .setConnectionTtl(null)
                .setConnectionMaxIdleTime(null)
                .setSocketConnectTimeout(null)
                .setSocketTimeout(null)
                .setTcpKeepAlive(false)
                .setHttpProxy(null)
                .setHttpProxySecure(false)
                .setHttpProxyUsername(null)
                .setHttpProxyPassword(null)
                .setHttpProxyPreemptiveBasicProxyAuth(false)
                .setNonProxyHosts(null)
                .setRetryMode(RetryMode.LEGACY)
                .setMaxErrorRetries(20)
                .setCrossRegionAccessEnabled(false)
                .setApplicationId("cachedhive")
                .setSseKmsCaching(SseKmsCaching.ENCRYPTED_ONLY));
    }

    @Test
    void testExplicitPropertyMappings()
    {
        Map<String, String> properties = ImmutableMap.<String, String>builder()
                .put("s3.aws-access-key", "abc123")
                .put("s3.aws-secret-key", "secret")
                .put("s3.endpoint", "endpoint.example.com")
                .put("s3.region", "eu-central-1")
                .put("s3.path-style-access", "true")
                .put("s3.auth-type", "IAM_ROLE")
                .put("s3.iam-role", "myrole")
                .put("s3.role-session-name", "mysession")
                .put("s3.external-id", "myid")
                .put("s3.sts.endpoint", "sts.example.com")
                .put("s3.sts.region", "us-west-2")
                .put("s3.sse.type", "KMS")
                .put("s3.signer-type", "AwsS3V4Signer")
                .put("s3.requester-pays", "true")
                .put("s3.max-connections", "42")
                .put("s3.connection-ttl", "1m")
                .put("s3.connection-max-idle-time", "2m")
                .put("s3.socket-connect-timeout", "3s")
                .put("s3.socket-timeout", "4s")
                .put("s3.tcp-keep-alive", "true")
                .put("s3.http-proxy", "localhost:8888")
                .put("s3.http-proxy.secure", "true")
                .put("s3.http-proxy.username", "user")
                .put("s3.http-proxy.password", "password")
                .put("s3.http-proxy.preemptive-basic-auth", "true")
                .put("s3.http-proxy.non-proxy-hosts", "test1,test2")
                .put("s3.retry-mode", "STANDARD")
                .put("s3.max-error-retries", "12")
                .put("s3.cross-region-access", "true")
                .put("s3.application-id", "application")
                .put("s3.sse-kms-caching", "ALLOWED")
                .buildOrThrow();

        assertFullMapping(properties, new S3OriginConfig()
                .setAwsAccessKey("abc123")
                .setAwsSecretKey("secret")
                .setEndpoint("endpoint.example.com")
                .setRegion("eu-central-1")
                .setPathStyleAccess(true)
                .setAuthType(AuthType.IAM_ROLE)
                .setIamRole("myrole")
                .setRoleSessionName("mysession")
                .setExternalId("myid")
                .setStsEndpoint("sts.example.com")
                .setStsRegion("us-west-2")
                .setSseType(SseType.KMS)
                .setSignerType(SignerType.AwsS3V4Signer)
                .setRequesterPays(true)
                .setMaxConnections(42)
                .setConnectionTtl(new Duration(1, MINUTES))
                .setConnectionMaxIdleTime(new Duration(2, MINUTES))
                .setSocketConnectTimeout(new Duration(3, SECONDS))
                .setSocketTimeout(new Duration(4, SECONDS))
                .setTcpKeepAlive(true)
                .setHttpProxy(HostAndPort.fromParts("localhost", 8888))
                .setHttpProxySecure(true)
                .setHttpProxyUsername("user")
                .setHttpProxyPassword("password")
                .setHttpProxyPreemptiveBasicProxyAuth(true)
                .setNonProxyHosts("test1, test2")
                .setRetryMode(RetryMode.STANDARD)
                .setMaxErrorRetries(12)
                .setCrossRegionAccessEnabled(true)
                .setApplicationId("application")
                .setSseKmsCaching(SseKmsCaching.ALLOWED));
    }

    @Test
    void testContradictions()
    {
        assertThat(new S3OriginConfig().setAwsAccessKey("a").isKeyPairComplete()).isFalse();
        assertThat(new S3OriginConfig().setIamRole("role").isIamRolePresenceValid()).isFalse();
        assertThat(new S3OriginConfig().setAuthType(AuthType.IAM_ROLE).isIamRolePresenceValid()).isFalse();
        assertThat(new S3OriginConfig().setAuthType(AuthType.ANONYMOUS).setAwsAccessKey("a").isCredentialFreeAuthTypeValid()).isFalse();
        assertThat(new S3OriginConfig().setSseType(SseType.CUSTOMER).isEncryptedWithCustomerKey()).isTrue();
    }
}
