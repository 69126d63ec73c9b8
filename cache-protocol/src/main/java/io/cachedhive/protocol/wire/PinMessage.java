package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * What is pinned by name.
 */
public sealed interface PinMessage
        extends Message
{
    /**
     * From now on, files of these places are pinned, or not any more. Answered by {@link Ack} when blocks that are there are so; from the moment on when the worker has read it,
     * it tells others, also if the answer is lost.
     */
    record SetPins(List<Pin> pins)
            implements PinMessage
    {
        public static final int MAX_PINS = 1024;

        public SetPins
        {
            pins = WireForms.copyOfAtMost(MAX_PINS, pins, "pins");
        }

        @Override
        public MessageType type()
        {
            return MessageType.SET_PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putList(pins, WireForms::writePin);
        }

        static SetPins read(WireReader reader)
                throws WireException
        {
            return new SetPins(reader.getList(WireForms::readPin));
        }
    }

    /**
     * Asks what is pinned by name, or was lately. Answered by {@link Pins}.
     *
     * @param known exclusive or of the ids of those that the asker has: a worker that has the same answers with none
     * @param after only ids beyond this one, as unsigned numbers; zero for the first
     * @param usage whether to say what there is of each, for which the worker looks through all its files
     */
    record GetPins(Digest128 known, Digest128 after, boolean usage)
            implements PinMessage
    {
        public GetPins
        {
            requireNonNull(known, "known is null");
            requireNonNull(after, "after is null");
        }

        @Override
        public MessageType type()
        {
            return MessageType.GET_PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(known).putDigest(after).putBoolean(usage);
        }

        static GetPins read(WireReader reader)
                throws WireException
        {
            return new GetPins(reader.getDigest(), reader.getDigest(), reader.getBoolean());
        }
    }

    /**
     * @param all exclusive or of the ids of all that the worker has
     * @param pins in the order of their ids, at most {@link SetPins#MAX_PINS}; fewer if there are no more
     */
    record Pins(Digest128 all, List<PinState> pins)
            implements PinMessage
    {
        public Pins
        {
            requireNonNull(all, "all is null");
            pins = List.copyOf(pins);
        }

        @Override
        public MessageType type()
        {
            return MessageType.PINS;
        }

        @Override
        public void writeTo(WireWriter writer)
        {
            writer.putDigest(all).putList(pins, (out, state) -> {
                WireForms.writePin(out, state.pin());
                out.putLong(state.cachedBytes()).putLong(state.pinnedBytes());
            });
        }

        static Pins read(WireReader reader)
                throws WireException
        {
            return new Pins(reader.getDigest(), reader.getList(in -> new PinState(WireForms.readPin(in), in.getLong(), in.getLong())));
        }
    }

    /**
     * @param cachedBytes bytes of blocks of its files that the worker has; 0 if that was not asked
     * @param pinnedBytes bytes of those that are of class pinned
     */
    record PinState(Pin pin, long cachedBytes, long pinnedBytes)
    {
        public PinState
        {
            requireNonNull(pin, "pin is null");
        }
    }
}
