package io.cachedhive.admin.settings;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Takes secrets out of text that somebody else is to see.
 */
public final class Secrets
{
    private static final String WORDS = "(?:secret|password|passphrase|token|credential|access-key|encryption-key|private-key|external-id|customer-key"
            + "|json-key(?!-file)|(?:key|trust)-?store[.-]key|key-pem|connection-string|account-?key|headers(?![A-Za-z-])|(?<![A-Za-z])sas(?![A-Za-z]))";
    private static final Pattern NAME = Pattern.compile(".*" + WORDS + ".*");
    private static final Pattern ASSIGNMENT = Pattern.compile("(?im)^(\\s*[#+-]?\\s*[a-z0-9_.-]*" + WORDS + "[a-z0-9_.-]*\\h*[=:]\\h*).*$");
    // a key is a value, or the name of a file with it
    private static final Pattern KEY_NAME = Pattern.compile(".*[.-]key");
    private static final String KEY_FILE = "[A-Za-z0-9_./-]+\\.(?:pem|key|crt|der|jks|p12|pkcs12|json)";
    private static final Pattern KEY_ASSIGNMENT = Pattern.compile("(?im)^(\\s*[#+-]?\\s*[a-z0-9_.-]*[.-]key\\h*[=:]\\h*+)(?!" + KEY_FILE + "\\h*$).+$");
    // a URL may have a password in it
    private static final Pattern USER_INFO = Pattern.compile("(://[^/@\\s:]+:)[^/@\\s]+@");
    // or as a parameter of it, also as JDBC writes them
    private static final Pattern PARAMETER = Pattern.compile("(?i)([?&;][a-z0-9_.-]*(?:" + WORDS + "|pwd|signature|(?<![a-z])sig(?![a-z]))[a-z0-9_.-]*=)[^&;\\s\"'<>]+");
    private static final String MASK = "***";
    // shorter ones would take ordinary words with them
    private static final int MIN_LENGTH = 6;

    private final Set<String> values = new LinkedHashSet<>();

    /// Remembers a value, wherever it may stand.
    public void add(String secret)
    {
        if (secret.length() >= MIN_LENGTH) {
            values.add(secret);
        }
    }

    /// Remembers those of a properties file, by the names.
    public void addFrom(String properties)
    {
        for (Map.Entry<String, String> property : PropertiesText.read(properties).entrySet()) {
            if (isSecret(property.getKey(), property.getValue())) {
                add(property.getValue());
            }
        }
    }

    public static boolean isSecret(String name, String value)
    {
        return NAME.matcher(name).matches() || (KEY_NAME.matcher(name).matches() && !value.matches(KEY_FILE));
    }

    /// The text without the values that are remembered, and without what is assigned to names of secrets.
    public String mask(String text)
    {
        String masked = ASSIGNMENT.matcher(text).replaceAll("$1" + MASK);
        masked = KEY_ASSIGNMENT.matcher(masked).replaceAll("$1" + MASK);
        masked = USER_INFO.matcher(masked).replaceAll("$1" + MASK + "@");
        masked = PARAMETER.matcher(masked).replaceAll("$1" + MASK);
        for (String value : values) {
            masked = masked.replace(value, MASK);
        }
        return masked;
    }
}
