#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encodes raw pictures (4:2:0, 8 bits, planar) into an H.264 stream.

usage: encode.py WIDTH HEIGHT < in.yuv > out.h264      OVT_LIBRARY: where libOpenVideoToolbox.so is
"""
import ctypes as c
import os
import sys

vt = c.CDLL(os.environ.get("OVT_LIBRARY", "libOpenVideoToolbox.so"))


class CMTime(c.Structure):
    _fields_ = [("value", c.c_int64), ("timescale", c.c_int32), ("flags", c.c_uint32), ("epoch", c.c_int64)]


def function(name, result, *arguments):
    found = getattr(vt, name)
    found.restype, found.argtypes = result, arguments
    return found


P, S, I, U = c.c_void_p, c.c_size_t, c.c_int32, c.c_uint32
Callback = c.CFUNCTYPE(None, P, P, I, U, P)
create = function("VTCompressionSessionCreate", I, P, I, I, U, P, P, P, Callback, P, c.POINTER(P))
encode = function("VTCompressionSessionEncodeFrame", I, P, P, CMTime, CMTime, P, P, P)
complete = function("VTCompressionSessionCompleteFrames", I, P, CMTime)
invalidate = function("VTCompressionSessionInvalidate", None, P)
make_buffer = function("CVPixelBufferCreate", I, P, S, S, U, P, c.POINTER(P))
lock, unlock = (function("CVPixelBuffer%sBaseAddress" % x, I, P, c.c_uint64) for x in ("Lock", "Unlock"))
address = function("CVPixelBufferGetBaseAddressOfPlane", P, P, S)
stride = function("CVPixelBufferGetBytesPerRowOfPlane", S, P, S)
release = function("CFRelease", None, P)
data_buffer = function("CMSampleBufferGetDataBuffer", P, P)
data_length = function("CMBlockBufferGetDataLength", S, P)
copy_bytes = function("CMBlockBufferCopyDataBytes", I, P, S, S, P)
format_of = function("CMSampleBufferGetFormatDescription", P, P)
parameter_set = function("CMVideoFormatDescriptionGetH264ParameterSetAtIndex", I, P, S, P, P, P, P)
invalid = CMTime.in_dll(vt, "kCMTimeInvalid")


@Callback
def write(_session, _frame, status, _flags, sample):
    if status != 0 or not sample:
        return
    data = c.create_string_buffer(data_length(data_buffer(sample)))
    copy_bytes(data_buffer(sample), 0, len(data), data)
    out, units, rest = sys.stdout.buffer, [], data.raw
    while len(rest) > 4:
        end = 4 + int.from_bytes(rest[:4], "big")
        units, rest = units + [rest[4:end]], rest[end:]
    if any(unit[0] & 31 == 5 for unit in units):
        for index in (0, 1):
            pointer, size = P(), S()
            parameter_set(format_of(sample), index, c.byref(pointer), c.byref(size), None, None)
            out.write(b"\0\0\0\1" + c.string_at(pointer, size.value))
    out.writelines(b"\0\0\0\1" + unit for unit in units)


width, height = int(sys.argv[1]), int(sys.argv[2])
session = P()
assert create(None, width, height, 0x61766331, None, None, None, write, None, c.byref(session)) == 0
size, frame = width * height * 3 // 2, 0
while len(picture := sys.stdin.buffer.read(size)) == size:
    buffer, at = P(), 0
    assert make_buffer(None, width, height, 0x79343230, None, c.byref(buffer)) == 0
    lock(buffer, 0)
    for plane, part in enumerate((1, 2, 2)):
        for row in range(height // part):
            target = address(buffer, plane) + row * stride(buffer, plane)
            c.memmove(target, picture[at:at + width // part], width // part)
            at += width // part
    unlock(buffer, 0)
    assert encode(session, buffer, CMTime(frame, 30, 1, 0), invalid, None, None, None) == 0
    release(buffer)
    frame += 1
assert complete(session, invalid) == 0
invalidate(session), release(session)
