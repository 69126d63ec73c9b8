package io.cachedhive.store.ram;

import static com.google.common.base.Verify.verify;

/**
 * A queue of frames, linked through the frames, so that each frame is in at most one list.
 */
final class FrameList
{
    private Frame first;
    private Frame last;
    private int size;

    int size()
    {
        return size;
    }

    boolean isEmpty()
    {
        return size == 0;
    }

    Frame first()
    {
        return first;
    }

    void addLast(Frame frame)
    {
        verify(frame.list == null, "frame %s is in a list already", frame.number());
        frame.list = this;
        frame.previous = last;
        frame.next = null;
        if (last == null) {
            first = frame;
        }
        else {
            last.next = frame;
        }
        last = frame;
        size++;
    }

    Frame pollFirst()
    {
        Frame frame = first;
        if (frame != null) {
            remove(frame);
        }
        return frame;
    }

    void remove(Frame frame)
    {
        verify(frame.list == this, "frame %s is not in the list", frame.number());
        if (frame.previous == null) {
            first = frame.next;
        }
        else {
            frame.previous.next = frame.next;
        }
        if (frame.next == null) {
            last = frame.previous;
        }
        else {
            frame.next.previous = frame.previous;
        }
        frame.list = null;
        frame.previous = null;
        frame.next = null;
        size--;
    }

    void moveToLast(Frame frame)
    {
        remove(frame);
        addLast(frame);
    }
}
