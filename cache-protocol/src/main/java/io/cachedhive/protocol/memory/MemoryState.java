package io.cachedhive.protocol.memory;

/**
 * The state of a shared-memory file. Readers use only {@link #LIVE} files, and only while their connection to the
 * worker is open or for less than a second after it closed. The blocks of a worker that hangs remain readable, since
 * nothing changes them.
 */
public enum MemoryState
{
    /**
     * The worker is initializing the file; its content is not valid.
     */
    STARTING(1),
    LIVE(2),
    /**
     * The worker or its successor has abandoned the file. Readers close it and reconnect.
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
     * Returns the state with this code. An unknown code means that the file is unusable: {@link #DEAD}.
     */
    static MemoryState fromCode(int code)
    {
        return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : DEAD;
    }
}
