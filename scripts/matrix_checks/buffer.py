# SPDX-License-Identifier: Apache-2.0
"""A decoder's buffer after clause C.1 of H.264, from the sizes and the decode times of packets alone."""

# Seconds by which decode times may be rounded: a movie's clock has ticks.
ROUNDING = 2e-4
# Bytes of the smallest filler: what is less waits for the next frame.
LEAST_FILLER = 16


def fullest_window(packets, seconds):
    """Most bits in any stretch so long, in order of decoding.

    packets: decode times in seconds, and bits.
    """
    most, bits, first = 0, 0, 0
    for time, size in packets:
        bits += size
        while time - packets[first][0] >= seconds - 1e-6:
            bits -= packets[first][1]
            first += 1
        most = max(most, bits)
    return most


def failure(packets, rate, seconds, constant, fullness=0.9):
    """What breaks the buffer, or nothing.

    Bits come in at a rate, into a buffer of so many seconds of it, which is full to a part when the first frame is taken
    out. A constant rate brings them whether there is room or not.
    """
    size = rate * seconds
    held = size * fullness
    slack = rate * ROUNDING
    for n, (time, bits) in enumerate(packets):
        if bits > held + slack:
            return f"the buffer is short of {bits - held:.0f} bits at {time:.3f} s"
        held -= bits
        if n + 1 == len(packets):
            return ""
        held += rate * (packets[n + 1][0] - time)
        if held > size:
            if constant and held - size > slack + LEAST_FILLER * 8:
                return f"the buffer has no room for {held - size:.0f} bits at {time:.3f} s"
            held = size
    return ""
