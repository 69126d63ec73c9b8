package io.cachedhive.rules;

/**
 * The rules file is not usable. The message is one sentence: what is wrong, where, and how to mend it.
 */
public final class RulesException
        extends Exception
{
    public RulesException(String message)
    {
        super(message);
    }
}
