package io.cachedhive.admin.host;

import com.fasterxml.jackson.databind.JsonNode;

import static java.util.Objects.requireNonNull;

/**
 * What came of asking one host.
 */
public sealed interface HostAnswer
{
    WorkerHost host();

    /// @param content an object
    record Answered(WorkerHost host, JsonNode content)
            implements HostAnswer
    {
        public Answered
        {
            requireNonNull(host, "host is null");
            requireNonNull(content, "content is null");
        }
    }

    /// @param problem one sentence that says what is wrong and what to do
    /// @param refused whether the host answers, and does not accept the secret
    record Failed(WorkerHost host, String problem, boolean refused)
            implements HostAnswer
    {
        public Failed(WorkerHost host, String problem)
        {
            this(host, problem, false);
        }

        public Failed
        {
            requireNonNull(host, "host is null");
            requireNonNull(problem, "problem is null");
        }
    }
}
