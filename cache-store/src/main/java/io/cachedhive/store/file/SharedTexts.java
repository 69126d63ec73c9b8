package io.cachedhive.store.file;

import io.cachedhive.store.column.HashChains;
import io.cachedhive.store.column.IntColumn;

import java.nio.ByteBuffer;

import static com.google.common.base.Verify.verify;

/**
 * Texts that many records have in common, each kept once, under a number, for as long as a record uses it.
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
    // texts that were used a moment ago, by bits of their hash: files come in the order of their directories
    private final String[] recentTexts = new String[RECENT];
    private final int[] recentNumbers = new int[RECENT];
    // free numbers, each with the next one, in place of its uses
    private int firstFree = HashChains.NONE;
    private int firstHeld = HashChains.NONE;
    private int holds;
    private int limit;

    /**
     * The text's number, with one use more.
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
     * Likewise, of a packed text.
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
     * Of a text that is in use.
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
     * While held, no number is given to another text.
     */
    void hold()
    {
        holds++;
    }

    void unhold()
    {
        holds--;
        while (holds == 0 && firstHeld != HashChains.NONE) {
            int number = firstHeld;
            firstHeld = uses.get(number);
            uses.set(number, firstFree);
            firstFree = number;
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
        // FNV-1a, with the finaliser of SplitMix64
        long hash = 0xCBF29CE484222325L;
        for (int i = text.position(); i < text.limit(); i++) {
            hash = (hash ^ (text.get(i) & 0xFF)) * 0x100000001B3L;
        }
        hash = (hash ^ (hash >>> 30)) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ (hash >>> 27)) * 0x94D049BB133111EBL;
        return hash ^ (hash >>> 31);
    }
}
