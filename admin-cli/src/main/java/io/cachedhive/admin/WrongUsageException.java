package io.cachedhive.admin;

/**
 * What was typed cannot be done, as the command finds only when it looks closer: the message is one sentence that says why, with its remedy.
 */
final class WrongUsageException
        extends RuntimeException
{
    WrongUsageException(String message)
    {
        super(message);
    }
}
