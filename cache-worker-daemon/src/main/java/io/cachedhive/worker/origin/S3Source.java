package io.cachedhive.worker.origin;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.OriginObserver.Operation;
import io.cachedhive.worker.origin.S3OriginConfig.SignerType;
import io.cachedhive.worker.origin.S3OriginConfig.SseKmsCaching;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.auth.credentials.WebIdentityTokenFileCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.http.apache.ProxyConfiguration;
import software.amazon.awssdk.http.auth.aws.scheme.AwsV4AuthScheme;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.scheme.AuthSchemeOption;
import software.amazon.awssdk.http.auth.spi.signer.SignerProperty;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.AcquireInitialTokenRequest;
import software.amazon.awssdk.retries.api.AcquireInitialTokenResponse;
import software.amazon.awssdk.retries.api.RecordSuccessRequest;
import software.amazon.awssdk.retries.api.RecordSuccessResponse;
import software.amazon.awssdk.retries.api.RefreshRetryTokenRequest;
import software.amazon.awssdk.retries.api.RefreshRetryTokenResponse;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.retries.api.TokenAcquisitionFailedException;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.auth.scheme.S3AuthSchemeProvider;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.RequestPayer;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.StsClientBuilder;
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.base.Strings.nullToEmpty;
import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.net.HttpHeaders.DATE;
import static io.airlift.concurrent.Threads.daemonThreadsNamed;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.CHANGED;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.DENIED;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.ENCRYPTED;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.FAILED;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.GONE;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.THROTTLED;
import static io.cachedhive.worker.origin.ObjectSourceException.Reason.UNREACHABLE;
import static java.util.Objects.requireNonNull;

/**
 * Reads an S3-compatible object store with the synchronous client of the AWS SDK. It reads from the socket directly
 * into the caller's array, without the extra copies and thread switches of the asynchronous client.
 *
 * <p>The client has the same properties as Trino's own, so that both use the same store with the same permissions.
 */
public final class S3Source
        implements ObjectSource
{
    // after this time the readers have given up and read from the origin themselves
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(15);
    // a response that trickles in would otherwise keep one of the bucket's requests for hours
    static final Duration RANGE_TIMEOUT = Duration.ofSeconds(60);
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (\\d+)-(\\d+)/(\\d+)");

    private final SdkHttpClient httpClient;
    private final ScheduledExecutorService timeouts;
    private final S3Client rangeClient;
    private final S3Client headClient;
    private final int maxAttempts;
    private final Optional<RequestPayer> requestPayer;
    private final Optional<EncryptedDirectories> refused;
    private final OriginObserver observer;
    private final LongSupplier nanoTime;

    private S3Source(
            SdkHttpClient httpClient,
            ScheduledExecutorService timeouts,
            S3Client rangeClient,
            S3Client headClient,
            int maxAttempts,
            Optional<RequestPayer> requestPayer,
            Optional<EncryptedDirectories> refused,
            OriginObserver observer,
            LongSupplier nanoTime)
    {
        this.httpClient = requireNonNull(httpClient, "httpClient is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
        this.rangeClient = requireNonNull(rangeClient, "rangeClient is null");
        this.headClient = requireNonNull(headClient, "headClient is null");
        this.maxAttempts = maxAttempts;
        this.requestPayer = requireNonNull(requestPayer, "requestPayer is null");
        this.refused = requireNonNull(refused, "refused is null");
        this.observer = requireNonNull(observer, "observer is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Creates a source.
     *
     * @param encryptedAtRest whether the caller keeps the bytes encrypted
     * @param nanoTime the current time of a clock in nanoseconds, for the timeouts of responses
     * @throws SdkClientException if the SDK cannot create a client, for instance because no region is configured
     * @throws IllegalArgumentException if a value is malformed
     */
    public static S3Source create(S3OriginConfig config, OriginObserver observer, boolean encryptedAtRest, LongSupplier nanoTime)
    {
        SdkHttpClient httpClient = createHttpClient(config);
        ScheduledExecutorService timeouts = createTimeouts();
        try {
            Optional<AwsCredentialsProvider> credentials = credentials(config);
            RetryStrategy retries = retryStrategy(config);
            return new S3Source(
                    httpClient,
                    timeouts,
                    createClient(config, httpClient, timeouts, credentials, new RefusalsLeftToCaller(retries), observer),
                    createClient(config, httpClient, timeouts, credentials, retries, observer),
                    config.getMaxErrorRetries(),
                    config.isRequesterPays() ? Optional.of(RequestPayer.REQUESTER) : Optional.empty(),
                    encryptedAtRest || config.getSseKmsCaching() == SseKmsCaching.ALLOWED ? Optional.empty() : Optional.of(new EncryptedDirectories()),
                    observer,
                    nanoTime);
        }
        catch (RuntimeException e) {
            timeouts.shutdownNow();
            httpClient.close();
            throw e;
        }
    }

    private static SdkHttpClient createHttpClient(S3OriginConfig config)
    {
        ApacheHttpClient.Builder client = ApacheHttpClient.builder()
                .maxConnections(config.getMaxConnections())
                .tcpKeepAlive(config.getTcpKeepAlive());
        config.getConnectionTtl().ifPresent(value -> client.connectionTimeToLive(value.toJavaTime()));
        config.getConnectionMaxIdleTime().ifPresent(value -> client.connectionMaxIdleTime(value.toJavaTime()));
        config.getSocketConnectTimeout().ifPresent(value -> client.connectionTimeout(value.toJavaTime()));
        config.getSocketTimeout().ifPresent(value -> client.socketTimeout(value.toJavaTime()));
        config.getHttpProxy().ifPresent(proxy -> client.proxyConfiguration(ProxyConfiguration.builder()
                .endpoint(URI.create("%s://%s".formatted(config.isHttpProxySecure() ? "https" : "http", proxy)))
                .username(config.getHttpProxyUsername().orElse(null))
                .password(config.getHttpProxyPassword().orElse(null))
                .nonProxyHosts(config.getNonProxyHosts())
                .preemptiveBasicAuthenticationEnabled(config.getHttpProxyPreemptiveBasicProxyAuth())
                .build()));
        return client.build();
    }

    /**
     * Creates the executor for timeouts. The SDK's own executor would keep each timeout until it is due and wake a
     * thread for it, long after the response.
     */
    private static ScheduledExecutorService createTimeouts()
    {
        ScheduledThreadPoolExecutor timeouts = new ScheduledThreadPoolExecutor(1, daemonThreadsNamed("origin-timeout-%s"));
        timeouts.setRemoveOnCancelPolicy(true);
        return timeouts;
    }

    private static S3Client createClient(
            S3OriginConfig config,
            SdkHttpClient httpClient,
            ScheduledExecutorService timeouts,
            Optional<AwsCredentialsProvider> credentials,
            RetryStrategy retries,
            OriginObserver observer)
    {
        S3ClientBuilder client = S3Client.builder()
                .httpClient(httpClient)
                .overrideConfiguration(ClientOverrideConfiguration.builder()
                        .retryStrategy(retries)
                        .apiCallTimeout(ANSWER_TIMEOUT)
                        .scheduledExecutorService(timeouts)
                        .appId(config.getApplicationId())
                        .addExecutionInterceptor(new AttemptObserver(observer))
                        .build())
                .crossRegionAccessEnabled(config.isCrossRegionAccessEnabled())
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .forcePathStyle(config.isPathStyleAccess());
        config.getSignerType().map(S3Source::authSchemeProvider).ifPresent(client::authSchemeProvider);
        config.getRegion().map(Region::of).ifPresent(client::region);
        config.getEndpoint().map(URI::create).ifPresent(client::endpointOverride);
        credentials.ifPresent(client::credentialsProvider);
        return client.build();
    }

    /**
     * Returns the configured credentials, or empty for the SDK's default provider chain.
     */
    private static Optional<AwsCredentialsProvider> credentials(S3OriginConfig config)
    {
        Optional<AwsCredentialsProvider> keys = config.getAwsAccessKey()
                .map(key -> StaticCredentialsProvider.create(AwsBasicCredentials.create(key, config.getAwsSecretKey().orElseThrow())));
        return switch (config.getAuthType()) {
            case ANONYMOUS -> Optional.of(AnonymousCredentialsProvider.create());
            case WEB_IDENTITY -> Optional.of(WebIdentityTokenFileCredentialsProvider.builder()
                    .asyncCredentialUpdateEnabled(true)
                    .build());
            case IAM_ROLE -> Optional.of(StsAssumeRoleCredentialsProvider.builder()
                    .refreshRequest(request -> request
                            .roleArn(config.getIamRole().orElseThrow())
                            .roleSessionName(config.getRoleSessionName())
                            .externalId(config.getExternalId().orElse(null)))
                    .stsClient(createStsClient(config, keys))
                    .asyncCredentialUpdateEnabled(true)
                    .build());
            case DEFAULT -> keys;
        };
    }

    private static StsClient createStsClient(S3OriginConfig config, Optional<AwsCredentialsProvider> keys)
    {
        StsClientBuilder client = StsClient.builder();
        config.getStsEndpoint().map(URI::create).ifPresent(client::endpointOverride);
        config.getStsRegion().or(config::getRegion).map(Region::of).ifPresent(client::region);
        keys.ifPresent(client::credentialsProvider);
        return client.build();
    }

    private static RetryStrategy retryStrategy(S3OriginConfig config)
    {
        RetryStrategy strategy = switch (config.getRetryMode()) {
            case STANDARD -> AwsRetryStrategy.standardRetryStrategy();
            case LEGACY -> AwsRetryStrategy.legacyRetryStrategy();
            case ADAPTIVE -> AwsRetryStrategy.adaptiveRetryStrategy();
        };
        return strategy.toBuilder()
                .maxAttempts(config.getMaxErrorRetries())
                .build();
    }

    private static S3AuthSchemeProvider authSchemeProvider(SignerType signerType)
    {
        Map<SignerProperty<Boolean>, Boolean> properties = switch (signerType) {
            case AwsS3V4Signer -> ImmutableMap.of();
            case Aws4Signer, AsyncAws4Signer, EventStreamAws4Signer -> ImmutableMap.of(
                    AwsV4HttpSigner.DOUBLE_URL_ENCODE, true,
                    AwsV4HttpSigner.NORMALIZE_PATH, true);
            case Aws4UnsignedPayloadSigner -> ImmutableMap.of(
                    AwsV4HttpSigner.DOUBLE_URL_ENCODE, true,
                    AwsV4HttpSigner.NORMALIZE_PATH, true,
                    AwsV4HttpSigner.PAYLOAD_SIGNING_ENABLED, false);
        };
        S3AuthSchemeProvider delegate = S3AuthSchemeProvider.defaultProvider();
        return parameters -> delegate.resolveAuthScheme(parameters).stream()
                .map(option -> withProperties(option, properties))
                .collect(toImmutableList());
    }

    private static AuthSchemeOption withProperties(AuthSchemeOption option, Map<SignerProperty<Boolean>, Boolean> properties)
    {
        if (!option.schemeId().equals(AwsV4AuthScheme.SCHEME_ID)) {
            return option;
        }
        AuthSchemeOption.Builder builder = option.toBuilder();
        properties.forEach(builder::putSignerProperty);
        return builder.build();
    }

    @Override
    public ObjectRange open(S3ObjectLocation location, long position, long length, Optional<String> ifMatch)
            throws ObjectSourceException
    {
        if (refused.isPresent() && refused.get().contains(location)) {
            throw encrypted();
        }
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(location.bucket())
                .key(location.key())
                .range("bytes=%s-%s".formatted(position, position + length - 1))
                .ifMatch(ifMatch.orElse(null))
                .requestPayer(requestPayer.orElse(null))
                .build();
        long deadline = nanoTime.getAsLong() + RANGE_TIMEOUT.toNanos();
        ResponseInputStream<GetObjectResponse> stream;
        try {
            stream = rangeClient.getObject(request);
        }
        catch (SdkException e) {
            throw translate(e);
        }
        try {
            if (refused.isPresent() && isKms(stream.response())) {
                refused.get().add(location);
                throw encrypted();
            }
            return new S3Range(stream, checkRange(stream.response(), position, length), length, observer, () -> nanoTime.getAsLong() - deadline > 0);
        }
        catch (ObjectSourceException | RuntimeException e) {
            stream.abort();
            throw e;
        }
    }

    private static boolean isKms(GetObjectResponse response)
    {
        // aws:kms and aws:kms:dsse
        return nullToEmpty(response.serverSideEncryptionAsString()).startsWith("aws:kms");
    }

    private static ObjectSourceException encrypted()
    {
        return new ObjectSourceException(ENCRYPTED, "the object is encrypted with SSE-KMS", null);
    }

    private static ObjectState checkRange(GetObjectResponse response, long position, long length)
            throws ObjectSourceException
    {
        long objectLength;
        if (response.contentRange() == null) {
            // a server may return the whole object, which is valid only if the whole object was requested
            objectLength = response.contentLength();
            if (position != 0 || objectLength < length) {
                throw new ObjectSourceException(FAILED, "the origin ignored the range of a request", null);
            }
            if (objectLength > length) {
                // the caller sees from the state that the object is longer than expected
                return state(response, objectLength, Optional.ofNullable(response.eTag()), response.lastModified());
            }
        }
        else {
            Matcher matcher = CONTENT_RANGE.matcher(response.contentRange());
            if (!matcher.matches()) {
                throw new ObjectSourceException(FAILED, "the origin answered with a content range that cannot be understood: " + response.contentRange(), null);
            }
            objectLength = Long.parseLong(matcher.group(3));
            boolean cutAtEnd = Long.parseLong(matcher.group(2)) == objectLength - 1;
            if (Long.parseLong(matcher.group(1)) != position || (Long.parseLong(matcher.group(2)) != position + length - 1 && !cutAtEnd)) {
                throw new ObjectSourceException(FAILED, "the origin answered with another range than asked for: " + response.contentRange(), null);
            }
        }
        return state(response, objectLength, Optional.ofNullable(response.eTag()), response.lastModified());
    }

    @Override
    public ObjectState head(S3ObjectLocation location)
            throws ObjectSourceException
    {
        HeadObjectRequest request = HeadObjectRequest.builder()
                .bucket(location.bucket())
                .key(location.key())
                .requestPayer(requestPayer.orElse(null))
                .build();
        try {
            HeadObjectResponse response = headClient.headObject(request);
            return state(response, response.contentLength(), Optional.ofNullable(response.eTag()), response.lastModified());
        }
        catch (SdkException e) {
            throw translate(e);
        }
    }

    private static ObjectState state(SdkResponse response, long length, Optional<String> etag, Instant lastModified)
    {
        return new ObjectState(
                length,
                etag,
                Optional.ofNullable(lastModified),
                response.sdkHttpResponse().firstMatchingHeader(DATE).flatMap(S3Source::parseDate));
    }

    private static Optional<Instant> parseDate(String date)
    {
        try {
            return Optional.of(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from));
        }
        catch (DateTimeParseException _) {
            return Optional.empty();
        }
    }

    private static ObjectSourceException translate(SdkException e)
    {
        if (e instanceof S3Exception answer) {
            Reason reason = switch (answer.statusCode()) {
                case 401, 403 -> DENIED;
                case 404, 416 -> GONE;
                case 412 -> CHANGED;
                case TOO_MANY_REQUESTS, UNAVAILABLE -> THROTTLED;
                default -> FAILED;
            };
            String code = answer.awsErrorDetails() == null || answer.awsErrorDetails().errorCode() == null ? "" : " " + answer.awsErrorDetails().errorCode();
            return new ObjectSourceException(reason, answer.statusCode() + code, e);
        }
        String message = String.valueOf(e.getMessage());
        if (message.contains("Unable to load credentials")) {
            return new ObjectSourceException(DENIED, "no credentials", e);
        }
        if (e instanceof ApiCallTimeoutException) {
            return new ObjectSourceException(UNREACHABLE, "no answer within %s seconds".formatted(ANSWER_TIMEOUT.toSeconds()), e);
        }
        if (e instanceof AbortedException) {
            return new ObjectSourceException(FAILED, "interrupted", e);
        }
        return new ObjectSourceException(UNREACHABLE, e.getCause() instanceof IOException cause ? cause.toString() : message, e);
    }

    @Override
    public int maxAttempts()
    {
        return maxAttempts;
    }

    @Override
    public void close()
    {
        rangeClient.close();
        headClient.close();
        timeouts.shutdownNow();
        httpClient.close();
    }

    /**
     * Retries like the delegate, except for throttled requests. The caller retries those: it knows all requests to the
     * bucket, and occupies no connection and no thread while it waits.
     */
    private record RefusalsLeftToCaller(RetryStrategy retries)
            implements RetryStrategy
    {
        @Override
        public AcquireInitialTokenResponse acquireInitialToken(AcquireInitialTokenRequest request)
        {
            return retries.acquireInitialToken(request);
        }

        @Override
        public RefreshRetryTokenResponse refreshRetryToken(RefreshRetryTokenRequest request)
        {
            if (request.failure() instanceof SdkServiceException answer && (answer.statusCode() == TOO_MANY_REQUESTS || answer.statusCode() == UNAVAILABLE)) {
                throw new TokenAcquisitionFailedException("refused by the origin", request.token(), answer);
            }
            return retries.refreshRetryToken(request);
        }

        @Override
        public RecordSuccessResponse recordSuccess(RecordSuccessRequest request)
        {
            return retries.recordSuccess(request);
        }

        @Override
        public int maxAttempts()
        {
            return retries.maxAttempts();
        }

        // the delegate already has the defaults of AWS
        @Override
        public boolean useClientDefaults()
        {
            return false;
        }

        @Override
        public Builder<?, ?> toBuilder()
        {
            return retries.toBuilder();
        }
    }

    private static final class S3Range
            implements ObjectRange
    {
        private final ResponseInputStream<GetObjectResponse> stream;
        private final ObjectState state;
        private final OriginObserver observer;
        private final BooleanSupplier late;
        private long left;

        private S3Range(ResponseInputStream<GetObjectResponse> stream, ObjectState state, long length, OriginObserver observer, BooleanSupplier late)
        {
            this.stream = stream;
            this.state = state;
            this.left = length;
            this.observer = observer;
            this.late = late;
        }

        @Override
        public ObjectState state()
        {
            return state;
        }

        @Override
        public int read(byte[] buffer, int offset, int length)
                throws IOException
        {
            int count = stream.read(buffer, offset, length);
            if (count > 0) {
                left -= count;
                observer.received(count);
            }
            // each read of the socket has its own timeout
            if (count >= 0 && left > 0 && late.getAsBoolean()) {
                throw new IOException("the origin has not sent the whole range within %s, %s bytes are missing".formatted(RANGE_TIMEOUT, left));
            }
            return count;
        }

        @Override
        public void close()
        {
            if (left > 0) {
                // closing would read the rest of the response
                stream.abort();
                return;
            }
            try {
                stream.close();
            }
            catch (IOException _) {
                stream.abort();
            }
        }
    }

    private record AttemptObserver(OriginObserver observer)
            implements ExecutionInterceptor
    {
        private static final ExecutionAttribute<Boolean> ATTEMPTED = new ExecutionAttribute<>("cachedhive.attempted");

        @Override
        public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes)
        {
            observer.requestSent(context.request() instanceof HeadObjectRequest ? Operation.HEAD : Operation.GET);
            if (attributes.getAttribute(ATTEMPTED) != null) {
                observer.repeated();
            }
            attributes.putAttribute(ATTEMPTED, true);
        }

        @Override
        public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes)
        {
            String bucket = context.request().getValueForField("Bucket", String.class).orElse("");
            observer.answered(bucket, context.httpResponse().statusCode());
        }
    }
}
