# SPDX-License-Identifier: Apache-2.0
"""The clock in pictures: the time of day in milliseconds modulo 2^32 as 32 light and dark fields near the lower edge, the
most significant bit first, as `test:` of vtencode draws it."""
import time


def line(height):
    """The row of samples in the middle of the fields."""
    rows = max(height // 12, 8)
    return height - rows - 2 + rows // 2


def read(samples, width):
    """The milliseconds that a row of luma shows; None where a field is neither light nor dark."""
    field, clock = width // 34, 0
    for bit in range(32):
        level = samples[field * (bit + 1) + field // 2]
        if 90 < level < 170:
            return None
        clock = clock * 2 + (level > 128)
    return clock


def age(samples, width, now):
    """The age of a picture in seconds at a time of day; None where it cannot be read or is above a minute."""
    clock = read(samples, width)
    if clock is None:
        return None
    milliseconds = (int(now * 1000) - clock) & 0xFFFFFFFF
    return milliseconds / 1000 if milliseconds < 60_000 else None


ROWS = {}


def luma(width, height, number):
    """The luma of a picture: bars that move, and the time now."""
    if width not in ROWS:
        ROWS[width] = [bytes(48 + ((x + phase) >> 4 & 7) * 14 for x in range(width)) for phase in range(128)]
    samples = bytearray(b"".join(ROWS[width][(number + y // 8) % 128] for y in range(height)))
    field, rows = width // 34, max(height // 12, 8)
    clock = bytearray([110]) * width
    milliseconds = int(time.time() * 1000) & 0xFFFFFFFF
    for bit in range(32):
        clock[field * (bit + 1):field * (bit + 2)] = bytes([225 if milliseconds >> (31 - bit) & 1 else 24]) * field
    top = height - rows - 2
    samples[top * width:(top + rows) * width] = clock * rows
    return bytes(samples)


def quantile(values, share):
    values = sorted(values)
    return values[min(int(len(values) * share), len(values) - 1)] if values else None
