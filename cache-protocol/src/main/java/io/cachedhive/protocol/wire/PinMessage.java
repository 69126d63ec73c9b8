package io.cachedhive.protocol.wire;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.protocol.wire.ControlMessage.Ack;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Messages that pin files by name.
 */
public sealed interface PinMessage
        extends Message
{
    /**
     * Pins or unpins the files at these locations. Answered by {@link Ack} when cached blocks have been updated. As
     * soon as the worker has read the message, it forwards the pins to its peers, even if the answer is lost.
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
     * Asks for the current and recent pins. Answered by {@link Pins}.
     *
     * @param known the XOR of the ids that the requester has; a worker with the same XOR returns no pins
     * @param after only pins with a greater id, compared as unsigned numbers; zero for the first request
     * @param usage whether to report the cached bytes of each pin, for which the worker scans all its files
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
     * Lists pins.
     *
     * @param all the XOR of the ids of all pins that the worker has
     * @param pins sorted by id, at most {@link SetPins#MAX_PINS}; fewer if there are no more
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
     * A pin and its usage.
     *
     * @param cachedBytes bytes of blocks of its files that the worker has; 0 if not requested
     * @param pinnedBytes bytes of the cached blocks that have class pinned
     */
    record PinState(Pin pin, long cachedBytes, long pinnedBytes)
    {
        public PinState
        {
            requireNonNull(pin, "pin is null");
        }
    }
}
