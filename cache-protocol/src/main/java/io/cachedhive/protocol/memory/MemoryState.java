package io.cachedhive.protocol.memory;

/**
 * What the worker says of its shared-memory file. A reader uses {@link #LIVE} files only, and those only while its connection to the worker stands, or for less than a second
 * longer: of a worker that hangs what was there before is read, since nobody changes it.
 */
public enum MemoryState
{
    /**
     * Being laid out: nothing in it is to be believed.
     */
    STARTING(1),
    LIVE(2),
    /**
     * Given up, by its own worker or by the next one: the reader closes it and reconnects.
     */
    DEAD(3);

    private static final MemoryState[] VALUES = values();

    private final int code;

    MemoryState(int code)
    {
        this.code = code;
    }

    int code()
    {
        return code;
    }

    /**
     * An unknown code is a file that cannot be used: dead.
     */
    static MemoryState fromCode(int code)
    {
        return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : DEAD;
    }
}
