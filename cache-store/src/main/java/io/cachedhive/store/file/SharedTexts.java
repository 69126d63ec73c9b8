package io.cachedhive.store.file;

import io.cachedhive.store.column.HashChains;
import io.cachedhive.store.column.IntColumn;

import java.nio.ByteBuffer;

import static com.google.common.base.Verify.verify;

/**
 * Texts shared by many records. Each text is stored once, under a number, while a record uses it.
 *
 * <pre>
 *   record    length (varint)    packed text
 * </pre>
 */
final class SharedTexts
{
    private static final int RECENT = 8;

    private final RecordHeap records = new RecordHeap();
    private final HashChains byText = new HashChains(number -> hash(text(number)));
    private final IntColumn uses = new IntColumn();
    // recently used texts by bits of their hash, because files arrive grouped by directory
    private final String[] recentTexts = new String[RECENT];
    private final int[] recentNumbers = new int[RECENT];
    // head of the list of free numbers, linked through their use counts
    private int firstFree = HashChains.NONE;
    private int firstHeld = HashChains.NONE;
    private int lastHeld = HashChains.NONE;
    private int holds;
    private int limit;

    /**
     * Returns the number of the text and counts another use.
     */
    int use(String text)
    {
        int recent = text.hashCode() & (RECENT - 1);
        if (text.equals(recentTexts[recent])) {
            int number = recentNumbers[recent];
            uses.set(number, uses.get(number) + 1);
            return number;
        }
        int number = use(ByteBuffer.wrap(CompactString.pack(text)));
        recentTexts[recent] = text;
        recentNumbers[recent] = number;
        return number;
    }

    /**
     * Returns the number of a packed text and counts another use.
     */
    int use(ByteBuffer wanted)
    {
        int number = byText.first(hash(wanted));
        while (number != HashChains.NONE && !text(number).equals(wanted)) {
            number = byText.next(number);
        }
        if (number != HashChains.NONE) {
            uses.set(number, uses.get(number) + 1);
            return number;
        }
        number = firstFree;
        if (number == HashChains.NONE) {
            number = limit;
            limit++;
        }
        else {
            firstFree = uses.get(number);
        }
        RecordWriter record = new RecordWriter();
        record.putBytes(wanted.duplicate());
        records.add(number, record.bytes(), record.length());
        uses.set(number, 1);
        byText.link(number);
        return number;
    }

    /**
     * Counts another use of a text already in use.
     */
    void addUse(int number)
    {
        uses.set(number, uses.get(number) + 1);
    }

    byte[] packed(int number)
    {
        ByteBuffer text = text(number);
        byte[] packed = new byte[text.remaining()];
        text.get(packed);
        return packed;
    }

    /**
     * Prevents the reuse of numbers until {@link #unhold}.
     */
    void hold()
    {
        holds++;
    }

    void unhold()
    {
        holds--;
        if (holds == 0 && firstHeld != HashChains.NONE) {
            uses.set(lastHeld, firstFree);
            firstFree = firstHeld;
            firstHeld = HashChains.NONE;
            lastHeld = HashChains.NONE;
        }
    }

    void release(int number)
    {
        int left = uses.get(number) - 1;
        verify(left >= 0, "text %s is not in use", number);
        uses.set(number, left);
        if (left == 0) {
            byText.unlink(number);
            records.remove(number);
            for (int i = 0; i < RECENT; i++) {
                if (recentNumbers[i] == number) {
                    recentTexts[i] = null;
                }
            }
            if (holds > 0) {
                uses.set(number, firstHeld);
                firstHeld = number;
                lastHeld = lastHeld == HashChains.NONE ? number : lastHeld;
            }
            else {
                uses.set(number, firstFree);
                firstFree = number;
            }
        }
    }

    String get(int number)
    {
        return CompactString.unpack(text(number));
    }

    int utf8Length(int number)
    {
        return CompactString.utf8Length(text(number));
    }

    int size()
    {
        return byText.size();
    }

    private ByteBuffer text(int number)
    {
        return RecordWriter.getBytes(records.get(number));
    }

    private static long hash(ByteBuffer text)
    {
        // FNV-1a, with the finalizer of SplitMix64
        long hash = 0xCBF29CE484222325L;
        for (int i = text.position(); i < text.limit(); i++) {
            hash = (hash ^ (text.get(i) & 0xFF)) * 0x100000001B3L;
        }
        hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
        return hash ^ (hash >>> 31);
    }
}
