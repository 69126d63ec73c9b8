package io.cachedhive.rules;

/**
 * Thrown when the rules file is invalid. The message states the problem, its location and the fix.
 */
public final class RulesException
        extends Exception
{
    public RulesException(String message)
    {
        super(message);
    }
}
