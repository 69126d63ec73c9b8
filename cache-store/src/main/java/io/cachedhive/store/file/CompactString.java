package io.cachedhive.store.file;

import java.nio.ByteBuffer;
import java.util.Arrays;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A compact UTF-8 encoding of text. It replaces each UUID and each run of 32 hexadecimal digits, which dominate names
 * of data files and ETags, by 17 bytes: a byte that is invalid in UTF-8, and the 16 bytes of the value. Only lower-case
 * digits qualify, so that the encoding is lossless.
 */
final class CompactString
{
    private static final byte HEX = (byte) 0xFE;
    private static final byte UUID = (byte) 0xFF;
    private static final int VALUE_BYTES = 16;
    private static final int HEX_LENGTH = 32;
    private static final int UUID_LENGTH = 36;
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(UTF_8);

    private CompactString() {}

    static byte[] pack(String text)
    {
        byte[] bytes = text.getBytes(UTF_8);
        byte[] packed = null;
        int length = 0;
        int copied = 0;
        int position = 0;
        while (bytes.length - position >= HEX_LENGTH) {
            int passed = passOver(bytes, position);
            if (passed > 0) {
                position += passed;
                continue;
            }
            int taken = 0;
            byte mark = 0;
            if (isRun(bytes, position, UUID_LENGTH, true)) {
                taken = UUID_LENGTH;
                mark = UUID;
            }
            else if (isRun(bytes, position, HEX_LENGTH, false)) {
                taken = HEX_LENGTH;
                mark = HEX;
            }
            if (taken == 0) {
                position++;
                continue;
            }
            if (packed == null) {
                packed = new byte[bytes.length];
            }
            System.arraycopy(bytes, copied, packed, length, position - copied);
            length += position - copied;
            packed[length] = mark;
            length++;
            int digits = 0;
            for (int i = position; i < position + taken; i++) {
                if (bytes[i] != '-') {
                    int place = length + digits / 2;
                    packed[place] = (byte) ((packed[place] << 4) | value(bytes[i]));
                    digits++;
                }
            }
            length += VALUE_BYTES;
            position += taken;
            copied = position;
        }
        if (packed == null) {
            return bytes;
        }
        System.arraycopy(bytes, copied, packed, length, bytes.length - copied);
        length += bytes.length - copied;
        return Arrays.copyOf(packed, length);
    }

    /**
     * Returns how many start positions to skip, because a byte after them cannot be part of a run. Searches from the
     * end like Boyer and Moore ("A fast string searching algorithm", 1977), so that usually one byte excludes 32
     * positions.
     */
    private static int passOver(byte[] bytes, int start)
    {
        for (int i = HEX_LENGTH - 1; i >= 0; i--) {
            byte found = bytes[start + i];
            if (found != '-' && value(found) < 0) {
                return i + 1;
            }
        }
        return 0;
    }

    private static boolean isRun(byte[] bytes, int start, int length, boolean uuid)
    {
        if (bytes.length - start < length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            boolean dash = uuid && isDash(i);
            byte found = bytes[start + i];
            if (dash ? found != '-' : value(found) < 0) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDash(int indexInUuid)
    {
        return indexInUuid == 8 || indexInUuid == 13 || indexInUuid == 18 || indexInUuid == 23;
    }

    private static int value(byte digit)
    {
        if (digit >= '0' && digit <= '9') {
            return digit - '0';
        }
        return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
    }

    /**
     * Returns the length of the text in UTF-8.
     */
    static int utf8Length(ByteBuffer packed)
    {
        int length = 0;
        for (int i = packed.position(); i < packed.limit(); i++) {
            switch (packed.get(i)) {
                case UUID -> {
                    length += UUID_LENGTH;
                    i += VALUE_BYTES;
                }
                case HEX -> {
                    length += HEX_LENGTH;
                    i += VALUE_BYTES;
                }
                default -> length++;
            }
        }
        return length;
    }

    /**
     * Returns whether no value is truncated.
     */
    static boolean isValid(ByteBuffer packed)
    {
        int end = packed.limit();
        for (int i = packed.position(); i < end; i++) {
            byte next = packed.get(i);
            if (next == UUID || next == HEX) {
                i += VALUE_BYTES;
                if (i >= end) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Returns whether the text is exactly 32 hexadecimal digits.
     */
    static boolean isDigest(ByteBuffer packed)
    {
        return packed.remaining() == 1 + VALUE_BYTES && packed.get(packed.position()) == HEX;
    }

    static String unpack(ByteBuffer packed)
    {
        byte[] bytes = new byte[utf8Length(packed)];
        int length = 0;
        while (packed.hasRemaining()) {
            byte next = packed.get();
            if (next != UUID && next != HEX) {
                bytes[length] = next;
                length++;
                continue;
            }
            for (int i = 0; i < VALUE_BYTES; i++) {
                byte value = packed.get();
                // the dashes follow after 4, 6, 8 and 10 bytes
                if (next == UUID && i >= 4 && i <= 10 && i % 2 == 0) {
                    bytes[length] = '-';
                    length++;
                }
                bytes[length] = DIGITS[(value >> 4) & 0xF];
                bytes[length + 1] = DIGITS[value & 0xF];
                length += 2;
            }
        }
        return new String(bytes, UTF_8);
    }
}
