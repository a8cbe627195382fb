# SPDX-License-Identifier: Apache-2.0
"""Decodes the H.264 stream of a movie with Cisco's library OpenH264, and calculates a hash for each
picture."""
import ctypes
import ctypes.util
import hashlib
import json
import subprocess

START = b"\x00\x00\x00\x01"


class Unavailable(Exception):
    """The library is not installed."""


class Refused(Exception):
    """The library cannot decode the stream."""


class VideoProperty(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint), ("type", ctypes.c_int)]


class Parameters(ctypes.Structure):
    _fields_ = [
        ("restructed", ctypes.c_char_p), ("load", ctypes.c_uint), ("layer", ctypes.c_ubyte),
        ("concealment", ctypes.c_int), ("parse", ctypes.c_bool), ("video", VideoProperty)]


class BufferInfo(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int), ("time_in", ctypes.c_ulonglong), ("time_out", ctypes.c_ulonglong),
        ("width", ctypes.c_int), ("height", ctypes.c_int), ("format", ctypes.c_int), ("strides", ctypes.c_int * 2),
        ("planes", ctypes.c_void_p * 3)]


# Indices of the functions in `ISVCDecoderVtbl` in codec_api.h.
INITIALIZE, UNINITIALIZE, DECODE_NO_DELAY, FLUSH, SET_OPTION, GET_OPTION = 0, 1, 3, 5, 8, 9
# Values of `DECODER_OPTION` in codec_app_def.h.
TRACE_LEVEL, FRAMES_REMAINING = 9, 18


class Decoder:
    def __init__(self):
        name = ctypes.util.find_library("openh264")
        if not name:
            raise Unavailable()
        self.library = ctypes.CDLL(name)
        self.object = ctypes.c_void_p()
        if self.library.WelsCreateDecoder(ctypes.byref(self.object)) != 0:
            raise Unavailable()
        table = ctypes.cast(self.object, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))
        self.table = table.contents
        level = ctypes.c_int(0)
        self.call(SET_OPTION, ctypes.c_long, ctypes.c_int(TRACE_LEVEL), ctypes.byref(level))
        parameters = Parameters(layer=255, concealment=0, video=VideoProperty(0, 0))
        if self.call(INITIALIZE, ctypes.c_long, ctypes.byref(parameters)) != 0:
            raise Unavailable()

    def call(self, place, result, *arguments):
        kinds = [type(a) if isinstance(a, ctypes._SimpleCData) else ctypes.c_void_p for a in arguments]
        function = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *kinds)(self.table[place])
        return function(self.object, *[a if isinstance(a, ctypes._SimpleCData) else ctypes.cast(a, ctypes.c_void_p)
                                       for a in arguments])

    def close(self):
        self.call(UNINITIALIZE, ctypes.c_long)
        self.library.WelsDestroyDecoder(self.object)

    def picture(self, place, *arguments):
        planes = (ctypes.c_void_p * 3)()
        info = BufferInfo()
        state = self.call(place, ctypes.c_int, *arguments, ctypes.pointer(planes), ctypes.pointer(info))
        if state != 0:
            raise Refused(f"decoding state {state:#x}")
        if info.status != 1:
            return None
        digest = hashlib.md5()
        for n, shift in enumerate((0, 1, 1)):
            stride = info.strides[1 if n else 0]
            width, height = info.width + shift >> shift, info.height + shift >> shift
            data = ctypes.string_at(planes[n], stride * (height - 1) + width)
            for y in range(height):
                digest.update(data[y * stride:y * stride + width])
        return digest.hexdigest()

    def decode(self, unit):
        data = ctypes.create_string_buffer(unit, len(unit))
        return self.picture(DECODE_NO_DELAY, ctypes.pointer(data), ctypes.c_int(len(unit)))

    def remaining(self):
        count = ctypes.c_int(0)
        self.call(GET_OPTION, ctypes.c_long, ctypes.c_int(FRAMES_REMAINING), ctypes.byref(count))
        return count.value

    def flush(self):
        return self.picture(FLUSH)


def access_units(path):
    """The access units of a movie in Annex B format. The first one has the parameter sets."""
    with open(path, "rb") as file:
        movie = file.read()
    at = movie.index(b"avcC") + 4
    length = (movie[at + 4] & 3) + 1
    sets, place = b"", at + 5
    for mask in (31, 255):
        count = movie[place] & mask
        place += 1
        for _ in range(count):
            size = int.from_bytes(movie[place:place + 2], "big")
            sets += START + movie[place + 2:place + 2 + size]
            place += 2 + size
    answer = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pos,size", "-of", "json", path],
        check=True, stdout=subprocess.PIPE)
    for packet in json.loads(answer.stdout)["packets"]:
        begin = int(packet["pos"])
        end = begin + int(packet["size"])
        unit, sets = sets, b""
        while begin < end:
            size = int.from_bytes(movie[begin:begin + length], "big")
            unit += START + movie[begin + length:begin + length + size]
            begin += length + size
        yield unit


def picture_hashes(path):
    """The hash of each picture, in the output order of the library.

    Raises Unavailable if the library is missing, and Refused if it reports an error.
    """
    decoder = Decoder()
    try:
        hashes = []
        for unit in access_units(path):
            shown = decoder.decode(unit)
            if shown:
                hashes.append(shown)
        while decoder.remaining() > 0:
            shown = decoder.flush()
            if not shown:
                break
            hashes.append(shown)
        return hashes
    finally:
        decoder.close()
