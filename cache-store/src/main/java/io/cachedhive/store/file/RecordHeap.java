package io.cachedhive.store.file;

import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.column.IntColumn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import static com.google.common.base.Verify.verify;

/**
 * Records of various lengths, by owner number, without an object per record.
 *
 * <p>A record is in a slot of the smallest size that fits, in pages with slots of one size. The slots of a size are in
 * use without gaps, because removing a record moves the last one of its size into its slot. The overhead is less than a
 * page per slot size, and less than an eighth of each slot (7 bytes for short records).
 *
 * <pre>
 *   slot    0 owner    4 record, then remains of an earlier record
 * </pre>
 */
final class RecordHeap
{
    private static final int PAGE_BYTES = 16 << 10;
    private static final int FINE_BYTES = 512;
    private static final int STEP_BYTES = 8;
    private static final int MAX_SLOT_BYTES = 1 << 28;
    private static final int RECORD_OFFSET = Integer.BYTES;
    private static final int[] SLOT_BYTES = slotBytes();

    private final SlotClass[] classes = new SlotClass[SLOT_BYTES.length];
    // by owner
    private final ByteColumn slotClasses = new ByteColumn();
    private final IntColumn slots = new IntColumn();

    private static final class SlotClass
    {
        final int slotBytes;
        final int slotsPerPage;
        ByteBuffer[] pages = {};
        int count;

        SlotClass(int slotBytes)
        {
            this.slotBytes = slotBytes;
            this.slotsPerPage = Math.max(1, PAGE_BYTES / slotBytes);
        }

        ByteBuffer page(int slot)
        {
            return pages[slot / slotsPerPage];
        }

        int offset(int slot)
        {
            return slot % slotsPerPage * slotBytes;
        }
    }

    private static int[] slotBytes()
    {
        int[] sizes = new int[256];
        int count = 0;
        for (int size = STEP_BYTES; size <= MAX_SLOT_BYTES; ) {
            sizes[count] = size;
            count++;
            size += size < FINE_BYTES ? STEP_BYTES : size / 8 & -STEP_BYTES;
        }
        return Arrays.copyOf(sizes, count);
    }

    private static int classFor(int bytes)
    {
        int place = Arrays.binarySearch(SLOT_BYTES, bytes);
        int slotClass = place >= 0 ? place : -place - 1;
        verify(slotClass < SLOT_BYTES.length, "a record of %s bytes is too long", bytes);
        return slotClass;
    }

    /**
     * @param owner has no record yet
     * @param record self-delimiting, because {@link #get} may return bytes after its end
     */
    void add(int owner, byte[] record, int length)
    {
        int index = classFor(RECORD_OFFSET + length);
        SlotClass slotClass = classes[index];
        if (slotClass == null) {
            slotClass = new SlotClass(SLOT_BYTES[index]);
            classes[index] = slotClass;
        }
        int slot = slotClass.count;
        int page = slot / slotClass.slotsPerPage;
        if (page == slotClass.pages.length) {
            slotClass.pages = Arrays.copyOf(slotClass.pages, page + page / 8 + 1);
        }
        if (slotClass.pages[page] == null) {
            slotClass.pages[page] = ByteBuffer.allocate(slotClass.slotsPerPage * slotClass.slotBytes).order(ByteOrder.LITTLE_ENDIAN);
        }
        slotClass.count++;
        int offset = slotClass.offset(slot);
        slotClass.pages[page].putInt(offset, owner).put(offset + RECORD_OFFSET, record, 0, length);
        slotClasses.set(owner, index);
        slots.set(owner, slot);
    }

    /**
     * @return a view that starts with the record, valid until the next change
     */
    ByteBuffer get(int owner)
    {
        SlotClass slotClass = classes[slotClasses.get(owner) & 0xFF];
        int slot = slots.get(owner);
        int offset = slotClass.offset(slot);
        ByteBuffer page = slotClass.page(slot);
        verify(page.getInt(offset) == owner, "the record of %s is that of %s", owner, page.getInt(offset));
        return page.slice(offset + RECORD_OFFSET, slotClass.slotBytes - RECORD_OFFSET).order(ByteOrder.LITTLE_ENDIAN);
    }

    void remove(int owner)
    {
        SlotClass slotClass = classes[slotClasses.get(owner) & 0xFF];
        int slot = slots.get(owner);
        verify(slotClass.page(slot).getInt(slotClass.offset(slot)) == owner, "the record of %s is another's", owner);
        int last = slotClass.count - 1;
        if (slot != last) {
            ByteBuffer source = slotClass.page(last);
            int moved = source.getInt(slotClass.offset(last));
            slotClass.page(slot).put(slotClass.offset(slot), source, slotClass.offset(last), slotClass.slotBytes);
            slots.set(moved, slot);
        }
        slotClass.count = last;
        if (last % slotClass.slotsPerPage == 0) {
            slotClass.pages[last / slotClass.slotsPerPage] = null;
        }
    }
}
