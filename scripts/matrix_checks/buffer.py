# SPDX-License-Identifier: Apache-2.0
"""A decoder buffer according to clause C.1 of H.264, based only on the sizes and decode times of
packets."""

# The rounding of decode times in seconds, which is caused by the time base of a movie.
ROUNDING = 2e-4
# The size of the smallest filler unit in bytes. A smaller excess is carried over to the next frame.
LEAST_FILLER = 16


def fullest_window(packets, seconds):
    """Returns the largest number of bits in any window of this duration, in decoding order.

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
    """Returns an error message if the buffer overflows or underflows, or an empty string.

    The buffer holds `seconds` of bits at the bit rate, and is filled to the fraction `fullness`
    when the first frame is removed. With a constant rate, bits continue to arrive when the buffer
    is full.
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
