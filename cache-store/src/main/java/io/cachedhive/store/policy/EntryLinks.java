package io.cachedhive.store.policy;

import java.util.Arrays;

import static com.google.common.base.Verify.verify;

/**
 * Doubly linked lists of entries, with nine bytes per entry. Each entry is in at most one list. The arrays grow in
 * pieces, so that growth never copies all entries. Not thread-safe.
 */
public final class EntryLinks
{
    static final int NONE = -1;

    private static final int PIECE_BITS = 10;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE - 1;

    private int[][] previous = {};
    private int[][] next = {};
    private byte[][] tags = {};

    private void grow(int entry)
    {
        int piece = entry >> PIECE_BITS;
        if (piece >= previous.length) {
            int length = piece + 1 + piece / 8;
            previous = Arrays.copyOf(previous, length);
            next = Arrays.copyOf(next, length);
            tags = Arrays.copyOf(tags, length);
        }
        if (tags[piece] == null) {
            previous[piece] = new int[PIECE];
            next[piece] = new int[PIECE];
            tags[piece] = new byte[PIECE];
        }
    }

    void clear()
    {
        previous = new int[0][];
        next = new int[0][];
        tags = new byte[0][];
    }

    /**
     * Returns the {@link EntryList#tag} of the list with the entry; 0 if it is in none.
     */
    int tag(int entry)
    {
        int piece = entry >> PIECE_BITS;
        return piece < tags.length && tags[piece] != null ? tags[piece][entry & PIECE_MASK] : 0;
    }

    private int previous(int entry)
    {
        return previous[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    private int next(int entry)
    {
        return next[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    private void setPrevious(int entry, int other)
    {
        previous[entry >> PIECE_BITS][entry & PIECE_MASK] = other;
    }

    private void setNext(int entry, int other)
    {
        next[entry >> PIECE_BITS][entry & PIECE_MASK] = other;
    }

    /**
     * A list ordered by last use, least recent first.
     */
    final class EntryList
    {
        private final byte tag;
        private int first = NONE;
        private int last = NONE;
        private int size;

        /**
         * @param tag above 0; the caller distinguishes lists with the same tag
         */
        EntryList(int tag)
        {
            verify(tag > 0 && tag <= Byte.MAX_VALUE, "tag %s", tag);
            this.tag = (byte) tag;
        }

        int tag()
        {
            return tag;
        }

        int size()
        {
            return size;
        }

        boolean isEmpty()
        {
            return size == 0;
        }

        /**
         * @return NONE if the list is empty
         */
        int first()
        {
            return first;
        }

        int after(int entry)
        {
            return next(entry);
        }

        void addLast(int entry)
        {
            verify(EntryLinks.this.tag(entry) == 0, "entry %s is in a list already", entry);
            grow(entry);
            tags[entry >> PIECE_BITS][entry & PIECE_MASK] = tag;
            setPrevious(entry, last);
            setNext(entry, NONE);
            if (last == NONE) {
                first = entry;
            }
            else {
                setNext(last, entry);
            }
            last = entry;
            size++;
        }

        void addFirst(int entry)
        {
            verify(EntryLinks.this.tag(entry) == 0, "entry %s is in a list already", entry);
            grow(entry);
            tags[entry >> PIECE_BITS][entry & PIECE_MASK] = tag;
            setPrevious(entry, NONE);
            setNext(entry, first);
            if (first == NONE) {
                last = entry;
            }
            else {
                setPrevious(first, entry);
            }
            first = entry;
            size++;
        }

        void remove(int entry)
        {
            verify(EntryLinks.this.tag(entry) == tag, "entry %s is not in the list", entry);
            int before = previous(entry);
            int after = next(entry);
            if (before == NONE) {
                first = after;
            }
            else {
                setNext(before, after);
            }
            if (after == NONE) {
                last = before;
            }
            else {
                setPrevious(after, before);
            }
            tags[entry >> PIECE_BITS][entry & PIECE_MASK] = 0;
            size--;
        }

        int pollFirst()
        {
            int entry = first;
            if (entry != NONE) {
                remove(entry);
            }
            return entry;
        }

        void moveToLast(int entry)
        {
            if (entry != last) {
                remove(entry);
                addLast(entry);
            }
        }
    }
}
