package io.cachedhive.admin.task;

/**
 * What was to be done on a host was not: the message is one sentence that says why, with its remedy.
 */
public final class TaskException
        extends Exception
{
    public TaskException(String problem)
    {
        super(problem);
    }
}
