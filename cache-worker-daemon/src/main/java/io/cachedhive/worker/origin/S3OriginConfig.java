package io.cachedhive.worker.origin;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSet;
import com.google.common.net.HostAndPort;
import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import io.airlift.configuration.ConfigSecuritySensitive;
import io.airlift.configuration.LegacyConfig;
import io.airlift.units.Duration;
import jakarta.validation.constraints.AssertFalse;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

import java.util.Optional;
import java.util.Set;

import static com.google.common.base.Strings.nullToEmpty;

/**
 * The connection to an object store: the properties of Trino's S3 file system that affect reads, with the same names,
 * defaults and rules.
 */
public class S3OriginConfig
{
    /**
     * When objects that are encrypted with SSE-KMS are cached.
     */
    public enum SseKmsCaching
    {
        ENCRYPTED_ONLY,
        ALLOWED,
    }

    public enum AuthType
    {
        DEFAULT,
        IAM_ROLE,
        WEB_IDENTITY,
        ANONYMOUS,
    }

    public enum RetryMode
    {
        STANDARD,
        LEGACY,
        ADAPTIVE,
    }

    public enum SseType
    {
        NONE,
        S3,
        KMS,
        CUSTOMER,
    }

    public enum SignerType
    {
        AwsS3V4Signer,
        Aws4Signer,
        AsyncAws4Signer,
        Aws4UnsignedPayloadSigner,
        EventStreamAws4Signer,
    }

    private Optional<String> awsAccessKey = Optional.empty();
    private Optional<String> awsSecretKey = Optional.empty();
    private Optional<String> endpoint = Optional.empty();
    private Optional<String> region = Optional.empty();
    private boolean pathStyleAccess;
    private AuthType authType = AuthType.DEFAULT;
    private Optional<String> iamRole = Optional.empty();
    private String roleSessionName = "trino-filesystem";
    private Optional<String> externalId = Optional.empty();
    private Optional<String> stsEndpoint = Optional.empty();
    private Optional<String> stsRegion = Optional.empty();
    private SseType sseType = SseType.NONE;
    private Optional<SignerType> signerType = Optional.empty();
    private boolean requesterPays;
    private int maxConnections = 500;
    private Optional<Duration> connectionTtl = Optional.empty();
    private Optional<Duration> connectionMaxIdleTime = Optional.empty();
    private Optional<Duration> socketConnectTimeout = Optional.empty();
    private Optional<Duration> socketTimeout = Optional.empty();
    private boolean tcpKeepAlive;
    private Optional<HostAndPort> httpProxy = Optional.empty();
    private boolean httpProxySecure;
    private Optional<String> httpProxyUsername = Optional.empty();
    private Optional<String> httpProxyPassword = Optional.empty();
    private boolean preemptiveBasicProxyAuth;
    private Set<String> nonProxyHosts = ImmutableSet.of();
    private RetryMode retryMode = RetryMode.LEGACY;
    private int maxErrorRetries = 20;
    private boolean crossRegionAccessEnabled;
    private SseKmsCaching sseKmsCaching = SseKmsCaching.ENCRYPTED_ONLY;
    private String applicationId = "cachedhive";

    @NotNull
    public Optional<String> getAwsAccessKey()
    {
        return awsAccessKey;
    }

    @Config("s3.aws-access-key")
    public S3OriginConfig setAwsAccessKey(String awsAccessKey)
    {
        this.awsAccessKey = Optional.ofNullable(awsAccessKey);
        return this;
    }

    @NotNull
    public Optional<String> getAwsSecretKey()
    {
        return awsSecretKey;
    }

    @Config("s3.aws-secret-key")
    @ConfigSecuritySensitive
    public S3OriginConfig setAwsSecretKey(String awsSecretKey)
    {
        this.awsSecretKey = Optional.ofNullable(awsSecretKey);
        return this;
    }

    @AssertTrue(message = "s3.aws-access-key and s3.aws-secret-key must be set together")
    public boolean isKeyPairComplete()
    {
        return awsAccessKey.isPresent() == awsSecretKey.isPresent();
    }

    @NotNull
    public Optional<String> getEndpoint()
    {
        return endpoint;
    }

    @Config("s3.endpoint")
    public S3OriginConfig setEndpoint(String endpoint)
    {
        this.endpoint = Optional.ofNullable(endpoint);
        return this;
    }

    @NotNull
    public Optional<String> getRegion()
    {
        return region;
    }

    @Config("s3.region")
    public S3OriginConfig setRegion(String region)
    {
        this.region = Optional.ofNullable(region);
        return this;
    }

    public boolean isPathStyleAccess()
    {
        return pathStyleAccess;
    }

    @Config("s3.path-style-access")
    @ConfigDescription("Use path-style access for all requests to S3")
    public S3OriginConfig setPathStyleAccess(boolean pathStyleAccess)
    {
        this.pathStyleAccess = pathStyleAccess;
        return this;
    }

    @NotNull
    public AuthType getAuthType()
    {
        return authType;
    }

    @Config("s3.auth-type")
    @ConfigDescription("Authentication mode for accessing S3")
    public S3OriginConfig setAuthType(AuthType authType)
    {
        this.authType = authType;
        return this;
    }

    @NotNull
    public Optional<String> getIamRole()
    {
        return iamRole;
    }

    @Config("s3.iam-role")
    @ConfigDescription("ARN of an IAM role to assume when connecting to S3")
    public S3OriginConfig setIamRole(String iamRole)
    {
        this.iamRole = Optional.ofNullable(iamRole);
        return this;
    }

    @AssertTrue(message = "s3.iam-role must be set when, and only when, s3.auth-type=IAM_ROLE")
    public boolean isIamRolePresenceValid()
    {
        return (authType == AuthType.IAM_ROLE) == iamRole.isPresent();
    }

    @AssertTrue(message = "s3.auth-type=ANONYMOUS and s3.auth-type=WEB_IDENTITY cannot be used with " +
            "s3.aws-access-key, s3.aws-secret-key, s3.external-id, s3.sts.endpoint, s3.sts.region")
    public boolean isCredentialFreeAuthTypeValid()
    {
        if (authType == AuthType.ANONYMOUS || authType == AuthType.WEB_IDENTITY) {
            return awsAccessKey.isEmpty() && awsSecretKey.isEmpty() && externalId.isEmpty() && stsEndpoint.isEmpty() && stsRegion.isEmpty();
        }
        return true;
    }

    @NotNull
    public String getRoleSessionName()
    {
        return roleSessionName;
    }

    @Config("s3.role-session-name")
    @ConfigDescription("Role session name to use when connecting to S3")
    public S3OriginConfig setRoleSessionName(String roleSessionName)
    {
        this.roleSessionName = roleSessionName;
        return this;
    }

    @NotNull
    public Optional<String> getExternalId()
    {
        return externalId;
    }

    @Config("s3.external-id")
    @ConfigDescription("External ID for the IAM role trust policy when connecting to S3")
    public S3OriginConfig setExternalId(String externalId)
    {
        this.externalId = Optional.ofNullable(externalId);
        return this;
    }

    @NotNull
    public Optional<String> getStsEndpoint()
    {
        return stsEndpoint;
    }

    @Config("s3.sts.endpoint")
    public S3OriginConfig setStsEndpoint(String stsEndpoint)
    {
        this.stsEndpoint = Optional.ofNullable(stsEndpoint);
        return this;
    }

    @NotNull
    public Optional<String> getStsRegion()
    {
        return stsRegion;
    }

    @Config("s3.sts.region")
    public S3OriginConfig setStsRegion(String stsRegion)
    {
        this.stsRegion = Optional.ofNullable(stsRegion);
        return this;
    }

    @NotNull
    public SseType getSseType()
    {
        return sseType;
    }

    @Config("s3.sse.type")
    @ConfigDescription("NONE, S3 and KMS concern writing only; customer-provided keys are not cached")
    public S3OriginConfig setSseType(SseType sseType)
    {
        this.sseType = sseType;
        return this;
    }

    @AssertFalse(message = "s3.sse.type=CUSTOMER is not honoured: data under customer-provided keys is not cached by this worker")
    public boolean isEncryptedWithCustomerKey()
    {
        return sseType == SseType.CUSTOMER;
    }

    @NotNull
    public Optional<SignerType> getSignerType()
    {
        return signerType;
    }

    @Config("s3.signer-type")
    @ConfigDescription("AWS signing protocol to use while authenticating S3 requests")
    public S3OriginConfig setSignerType(SignerType signerType)
    {
        this.signerType = Optional.ofNullable(signerType);
        return this;
    }

    public boolean isRequesterPays()
    {
        return requesterPays;
    }

    @Config("s3.requester-pays")
    public S3OriginConfig setRequesterPays(boolean requesterPays)
    {
        this.requesterPays = requesterPays;
        return this;
    }

    @Min(1)
    public int getMaxConnections()
    {
        return maxConnections;
    }

    @Config("s3.max-connections")
    public S3OriginConfig setMaxConnections(int maxConnections)
    {
        this.maxConnections = maxConnections;
        return this;
    }

    @NotNull
    public Optional<Duration> getConnectionTtl()
    {
        return connectionTtl;
    }

    @Config("s3.connection-ttl")
    @ConfigDescription("Maximum time allowed for connections to be reused before being replaced in the connection pool")
    public S3OriginConfig setConnectionTtl(Duration connectionTtl)
    {
        this.connectionTtl = Optional.ofNullable(connectionTtl);
        return this;
    }

    @NotNull
    public Optional<Duration> getConnectionMaxIdleTime()
    {
        return connectionMaxIdleTime;
    }

    @Config("s3.connection-max-idle-time")
    @ConfigDescription("Maximum time allowed for connections to remain idle in the connection pool before being closed")
    public S3OriginConfig setConnectionMaxIdleTime(Duration connectionMaxIdleTime)
    {
        this.connectionMaxIdleTime = Optional.ofNullable(connectionMaxIdleTime);
        return this;
    }

    @NotNull
    public Optional<Duration> getSocketConnectTimeout()
    {
        return socketConnectTimeout;
    }

    @Config("s3.socket-connect-timeout")
    @ConfigDescription("Maximum time allowed for socket connect to complete before timing out")
    public S3OriginConfig setSocketConnectTimeout(Duration socketConnectTimeout)
    {
        this.socketConnectTimeout = Optional.ofNullable(socketConnectTimeout);
        return this;
    }

    @NotNull
    public Optional<Duration> getSocketTimeout()
    {
        return socketTimeout;
    }

    @LegacyConfig("s3.socket-read-timeout")
    @Config("s3.socket-timeout")
    @ConfigDescription("Maximum time allowed for socket reads before timing out")
    public S3OriginConfig setSocketTimeout(Duration socketTimeout)
    {
        this.socketTimeout = Optional.ofNullable(socketTimeout);
        return this;
    }

    public boolean getTcpKeepAlive()
    {
        return tcpKeepAlive;
    }

    @Config("s3.tcp-keep-alive")
    @ConfigDescription("Enable TCP keep alive on created connections")
    public S3OriginConfig setTcpKeepAlive(boolean tcpKeepAlive)
    {
        this.tcpKeepAlive = tcpKeepAlive;
        return this;
    }

    @NotNull
    public Optional<HostAndPort> getHttpProxy()
    {
        return httpProxy;
    }

    @Config("s3.http-proxy")
    public S3OriginConfig setHttpProxy(HostAndPort httpProxy)
    {
        this.httpProxy = Optional.ofNullable(httpProxy);
        return this;
    }

    public boolean isHttpProxySecure()
    {
        return httpProxySecure;
    }

    @Config("s3.http-proxy.secure")
    public S3OriginConfig setHttpProxySecure(boolean httpProxySecure)
    {
        this.httpProxySecure = httpProxySecure;
        return this;
    }

    @NotNull
    public Optional<String> getHttpProxyUsername()
    {
        return httpProxyUsername;
    }

    @Config("s3.http-proxy.username")
    public S3OriginConfig setHttpProxyUsername(String httpProxyUsername)
    {
        this.httpProxyUsername = Optional.ofNullable(httpProxyUsername);
        return this;
    }

    @NotNull
    public Optional<String> getHttpProxyPassword()
    {
        return httpProxyPassword;
    }

    @Config("s3.http-proxy.password")
    @ConfigSecuritySensitive
    public S3OriginConfig setHttpProxyPassword(String httpProxyPassword)
    {
        this.httpProxyPassword = Optional.ofNullable(httpProxyPassword);
        return this;
    }

    public boolean getHttpProxyPreemptiveBasicProxyAuth()
    {
        return preemptiveBasicProxyAuth;
    }

    @Config("s3.http-proxy.preemptive-basic-auth")
    public S3OriginConfig setHttpProxyPreemptiveBasicProxyAuth(boolean preemptiveBasicProxyAuth)
    {
        this.preemptiveBasicProxyAuth = preemptiveBasicProxyAuth;
        return this;
    }

    @NotNull
    public Set<String> getNonProxyHosts()
    {
        return nonProxyHosts;
    }

    @Config("s3.http-proxy.non-proxy-hosts")
    public S3OriginConfig setNonProxyHosts(String nonProxyHosts)
    {
        this.nonProxyHosts = ImmutableSet.copyOf(Splitter.on(',').omitEmptyStrings().trimResults().split(nullToEmpty(nonProxyHosts)));
        return this;
    }

    @NotNull
    public RetryMode getRetryMode()
    {
        return retryMode;
    }

    @Config("s3.retry-mode")
    @ConfigDescription("Specifies how the AWS SDK attempts retries")
    public S3OriginConfig setRetryMode(RetryMode retryMode)
    {
        this.retryMode = retryMode;
        return this;
    }

    @Min(1)
    public int getMaxErrorRetries()
    {
        return maxErrorRetries;
    }

    @Config("s3.max-error-retries")
    public S3OriginConfig setMaxErrorRetries(int maxErrorRetries)
    {
        this.maxErrorRetries = maxErrorRetries;
        return this;
    }

    public boolean isCrossRegionAccessEnabled()
    {
        return crossRegionAccessEnabled;
    }

    @Config("s3.cross-region-access")
    @ConfigDescription("Enable S3 cross region access")
    public S3OriginConfig setCrossRegionAccessEnabled(boolean crossRegionAccessEnabled)
    {
        this.crossRegionAccessEnabled = crossRegionAccessEnabled;
        return this;
    }

    @NotNull
    public SseKmsCaching getSseKmsCaching()
    {
        return sseKmsCaching;
    }

    @Config("s3.sse-kms-caching")
    @ConfigDescription("ENCRYPTED_ONLY to cache objects that are encrypted with SSE-KMS only with encryption at rest; ALLOWED to cache them always")
    public S3OriginConfig setSseKmsCaching(SseKmsCaching sseKmsCaching)
    {
        this.sseKmsCaching = sseKmsCaching;
        return this;
    }

    @Size(max = 50)
    @NotNull
    public String getApplicationId()
    {
        return applicationId;
    }

    @Config("s3.application-id")
    @ConfigDescription("Suffix that will be added to HTTP User-Agent header to identify the application")
    public S3OriginConfig setApplicationId(String applicationId)
    {
        this.applicationId = applicationId;
        return this;
    }
}
