# SPDX-License-Identifier: Apache-2.0
"""The inputs. Each kind has a name, a recipe that creates the file, and words for selecting rows.
"""
import os
import subprocess

FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]


class Kind:
    """An unusual input. `make(folder)` returns the path of the input for vtencode and ffmpeg."""

    def __init__(self, group, name, make, short=False, options=(), source=None, pipe=False, reader=()):
        self.group, self.name, self.make, self.short = group, name, make, short
        # Additional options of vtencode, and options of ffmpeg before -i.
        self.options, self.reader = list(options), list(reader)
        # The file that the result is compared with, if it is not the input itself.
        self.source = source
        self.pipe = pipe

    @property
    def title(self):
        return f"{self.group}: {self.name}"


def run(arguments, **keywords):
    result = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **keywords)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {result.stderr.decode(errors='replace')[-500:]}")
    return result.stdout


def picture(size="160x120", rate="25", seconds="2"):
    return ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate={rate}:duration={seconds}"]


def tone(rate="48000", channels=2, seconds="2"):
    return ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate={rate}:duration={seconds},"
            f"aformat=channel_layouts={ {1: 'mono', 2: 'stereo', 6: '5.1', 8: '7.1'}[channels]}"]


def made(file, *options, size="160x120", rate="25", seconds="2", sound=True, sound_rate="48000", channels=2):
    """A recipe that creates a file from the test picture and a tone, using the given ffmpeg
    options."""
    def make(folder):
        path = os.path.join(folder, file)
        tones = tone(sound_rate, channels, seconds) if sound else []
        run(FFMPEG + picture(size, rate, seconds) + tones + list(options) + [path])
        return path
    return make


def then(recipe, change):
    """A recipe that applies `change(path, folder)` to the file of another recipe."""
    return lambda folder: change(recipe(folder), folder)


def remuxed(file, *options, before=()):
    def change(path, folder):
        target = os.path.join(folder, file)
        run(FFMPEG + list(before) + ["-i", path, "-map", "0"] + list(options) + [target])
        return target
    return change


def cut(share):
    """Truncates the file."""
    def change(path, _):
        os.truncate(path, int(os.path.getsize(path) * share))
        return path
    return change


def damaged(every, length=40, start=0.1):
    """Overwrites some bytes at regular intervals."""
    def change(path, _):
        data = bytearray(open(path, "rb").read())
        place = int(len(data) * start)
        seed = 1
        while place + length < len(data):
            for i in range(length):
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                data[place + i] = seed >> 16 & 255
            place += every
        open(path, "wb").write(data)
        return path
    return change


def lost_packets(every):
    """Removes packets of a transport stream at regular intervals."""
    def change(path, _):
        data = open(path, "rb").read()
        packets = [data[i:i + 188] for i in range(0, len(data), 188)]
        kept = [p for i, p in enumerate(packets) if i < 20 or i % every]
        open(path, "wb").write(b"".join(kept))
        return path
    return change


def joined(*recipes, file="joined.ts"):
    def make(folder):
        target = os.path.join(folder, file)
        data = b""
        for index, recipe in enumerate(recipes):
            inner = os.path.join(folder, f"part{index}")
            os.makedirs(inner, exist_ok=True)
            data += open(recipe(inner), "rb").read()
        open(target, "wb").write(data)
        return target
    return make


def written(file, text):
    def make(folder):
        path = os.path.join(folder, file)
        open(path, "wb").write(text)
        return path
    return make


X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
BFRAMES = ("-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-pix_fmt", "yuv420p")
AAC = ("-c:a", "aac", "-b:a", "96k")
HDR10 = ("-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-tag:v", "hvc1",
         "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-x265-params",
         "log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:master-display="
         "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):max-cll=1000,400")
HLG = ("-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-tag:v", "hvc1", "-color_primaries",
       "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc", "-x265-params",
       "log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc")
INTERLACE = ("-vf", "tinterlace=interleave_top,fieldorder=tff")
COLOURS = ("-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709")


def containers():
    rows = [
        ("mp4, H.264 with B pictures", "a.mp4", BFRAMES + AAC, 1), ("mov, H.264", "a.mov", X264 + AAC, 0),
        ("m4v", "a.m4v", X264 + AAC, 0), ("mkv, H.264 with B pictures", "a.mkv", BFRAMES + AAC, 0),
        ("avi, H.264 with B pictures", "a.avi", BFRAMES + ("-c:a", "libmp3lame"), 1),
        ("flv, H.264", "a.flv", BFRAMES + AAC, 0), ("flv, Sorenson", "a.flv", ("-c:v", "flv", "-ar", "44100", "-c:a", "libmp3lame"), 0),
        ("ts, H.264 with B pictures", "a.ts", BFRAMES + AAC, 1), ("m2ts", "a.m2ts", BFRAMES + ("-c:a", "ac3"), 0),
        ("3gp, H.263", "a.3gp", ("-s", "176x144", "-c:v", "h263", "-ar", "8000", "-ac", "1", "-c:a", "aac"), 0),
        ("3g2, MPEG-4", "a.3g2", ("-c:v", "mpeg4") + AAC, 0), ("asf, WMV1", "a.asf", ("-c:v", "wmv1", "-c:a", "wmav1"), 0),
        ("wmv, WMV2", "a.wmv", ("-c:v", "wmv2", "-c:a", "wmav2"), 1), ("webm, VP8", "a.webm", ("-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libvorbis"), 0),
        ("webm, VP9 and Opus", "a.webm", ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"), 0),
        ("webm, AV1", "a.webm", ("-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime", "-c:a", "libopus"), 0),
        ("mxf, H.264 with B pictures", "a.mxf", BFRAMES + ("-c:a", "pcm_s16le"), 1),
        ("mxf, MPEG-2", "a.mxf", ("-c:v", "mpeg2video", "-bf", "2", "-c:a", "pcm_s16le"), 0),
        ("gxf, MPEG-2", "a.gxf", ("-s", "720x576", "-c:v", "mpeg2video", "-c:a", "pcm_s16le", "-ac", "1"), 0),
        ("ogv, Theora", "a.ogv", ("-c:v", "libtheora", "-c:a", "libvorbis"), 0), ("mpg, MPEG-1", "a.mpg", ("-c:v", "mpeg1video", "-c:a", "mp2"), 0),
        ("vob, MPEG-2", "a.vob", ("-c:v", "mpeg2video", "-bf", "2", "-c:a", "ac3"), 0), ("nut", "a.nut", BFRAMES + AAC, 0),
        ("wtv", "a.wtv", ("-c:v", "mpeg2video", "-c:a", "mp2"), 0), ("rm, RealVideo 1", "a.rm", ("-s", "160x128", "-c:v", "rv10", "-c:a", "ac3"), 0),
        ("swf", "a.swf", ("-c:v", "flv", "-ar", "44100", "-c:a", "libmp3lame"), 0), ("ivf, VP8", "a.ivf", ("-an", "-c:v", "libvpx", "-deadline", "realtime"), 0),
        ("f4v", "a.f4v", X264 + AAC, 0), ("fragmented mp4", "a.mp4", BFRAMES + AAC + ("-g", "12", "-movflags", "frag_keyframe+empty_moov"), 1),
        ("ismv", "a.ismv", X264 + AAC, 0), ("dv", "a.dv", ("-s", "720x576", "-pix_fmt", "yuv420p", "-c:v", "dvvideo", "-ar", "48000"), 0),
        ("gif", "a.gif", ("-an",), 0), ("apng", "a.apng", ("-an", "-c:v", "apng"), 0), ("webp, animated", "a.webp", ("-an", "-c:v", "libwebp_anim"), 0),
        ("y4m", "a.y4m", ("-an", "-pix_fmt", "yuv420p"), 0), ("Annex B H.264 with B pictures", "a.264", ("-an",) + BFRAMES, 1),
        ("Annex B HEVC", "a.265", ("-an", "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-x265-params", "log-level=error"), 0),
        ("raw MPEG-2", "a.m2v", ("-an", "-c:v", "mpeg2video", "-bf", "2"), 0), ("raw MPEG-4", "a.m4v", ("-an", "-c:v", "mpeg4", "-f", "m4v"), 0),
        ("raw MJPEG", "a.mjpeg", ("-an", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"), 0), ("raw H.263", "a.h263", ("-an", "-s", "176x144", "-c:v", "h263"), 0),
    ]
    return [Kind("container", name, made(file, *options), short=bool(short)) for name, file, options, short in rows]


def codecs():
    rows = [
        ("HuffYUV", "avi", "huffyuv", "yuv422p"), ("FFVHuff", "avi", "ffvhuff", "yuv420p"), ("Ut Video", "avi", "utvideo", "yuv420p"),
        ("Ut Video RGB", "avi", "utvideo", "gbrp"), ("QuickTime Animation", "mov", "qtrle", "rgb24"), ("QuickTime Animation, alpha", "mov", "qtrle", "argb"),
        ("FFV1", "mkv", "ffv1", "yuv420p"), ("FFV1, 16 bits", "mkv", "ffv1", "yuv444p16le"), ("FFV1, grey", "mkv", "ffv1", "gray"),
        ("MagicYUV", "avi", "magicyuv", "yuv444p"), ("Cinepak", "mov", "cinepak", "rgb24"), ("MS Video 1", "avi", "msvideo1", "rgb555le"),
        ("ProRes 422", "mov", "prores_ks", "yuv422p10le"), ("ProRes 4444", "mov", "prores_ks", "yuva444p10le"), ("DNxHR", "mxf", "dnxhd", "yuv422p"),
        ("CineForm", "mov", "cfhd", "yuv422p10le"), ("MJPEG", "avi", "mjpeg", "yuvj422p"), ("JPEG 2000", "mov", "jpeg2000", "yuv420p"),
        ("PNG", "mov", "png", "rgba"), ("Dirac", "mkv", "vc2", "yuv420p"), ("Snow", "avi", "snow", "yuv420p"), ("MS-MPEG4 v3", "avi", "msmpeg4", "yuv420p"),
        ("Xvid with B pictures", "avi", "libxvid", "yuv420p"), ("ASV2", "avi", "asv2", "yuv420p"), ("SVQ1", "mov", "svq1", "yuv410p"),
        ("Flash Screen", "flv", "flashsv", "bgr24"), ("ZMBV", "avi", "zmbv", "bgr0"), ("RPZA", "mov", "rpza", "rgb555be"), ("SMC", "mov", "smc", "pal8"),
        ("Targa", "mov", "targa", "bgr24"), ("TIFF", "mov", "tiff", "rgb24"), ("v210", "mov", "v210", "yuv422p10le"), ("v410", "mov", "v410", "yuv444p10le"),
        ("v308", "mov", "v308", "yuv444p"), ("r210", "mov", "r210", "gbrp10le"), ("HAP", "mov", "hap", "rgba"), ("H.264 4:4:4", "mp4", "libx264", "yuv444p"),
        ("H.264 RGB", "mkv", "libx264rgb", "bgr24"), ("H.264 10 bits", "mp4", "libx264", "yuv420p10le"), ("H.264 4:2:2 10 bits", "mp4", "libx264", "yuv422p10le"),
        ("H.264 lossless", "mp4", "libx264", "yuv420p", "-qp", "0"), ("H.264 full range", "mp4", "libx264", "yuvj420p"),
        ("HEVC 12 bits", "mkv", "libx265", "yuv420p12le", "-x265-params", "log-level=error"), ("AV1 10 bits", "mkv", "libaom-av1", "yuv420p10le", "-cpu-used", "8", "-usage", "realtime"),
        ("VP9 with alpha", "webm", "libvpx-vp9", "yuva420p", "-deadline", "realtime", "-auto-alt-ref", "0"),
    ]
    short = {"HuffYUV", "QuickTime Animation", "ProRes 422"}
    return [Kind("codec", row[0], made(f"a.{row[1]}", "-an", "-c:v", row[2], "-pix_fmt", row[3], *row[4:],
                                       size="192x128" if row[0] != "DNxHR" else "256x128", sound=False)
                 if row[0] != "DNxHR" else
                 made("a.mxf", "-an", "-c:v", "dnxhd", "-profile:v", "dnxhr_sq", "-pix_fmt", "yuv422p", size="256x128", sound=False),
                 short=row[0] in short) for row in rows]


def raw_formats():
    rows = [("avi", "yuyv422"), ("avi", "uyvy422"), ("avi", "yuv420p"), ("avi", "bgr24"), ("avi", "bgra"), ("avi", "gray"), ("avi", "pal8"),
            ("avi", "rgb555le"), ("mov", "yuyv422"), ("mov", "uyvy422"), ("mov", "rgb24"), ("mov", "argb"), ("mov", "rgb48be"), ("mkv", "yuyv422"), ("mkv", "yuv420p"),
            ("nut", "yuv411p"), ("nut", "yuv440p"), ("nut", "nv12"), ("nut", "p010le"), ("nut", "gbrp16le"), ("nut", "monow"), ("nut", "gray10le"),
            ("nut", "yuv420p16be"), ("nut", "ya8")]
    return [Kind("raw", f"{format} in {ending}", made(f"a.{ending}", "-an", "-c:v", "rawvideo", "-pix_fmt", format, sound=False),
                 short=(ending, format) in {("avi", "yuyv422"), ("mov", "rgb24"), ("nut", "p010le")}) for ending, format in rows]


def rates_and_times():
    base = made("b.mp4", *BFRAMES, *AAC)
    plain = made("p.ts", *X264, *AAC)
    small = made("q.ts", *X264, *AAC, size="128x96")
    rows = [
        Kind("time", "23.976 fps", made("a.mp4", *BFRAMES, *AAC, rate="24000/1001"), short=True),
        Kind("time", "59.94 fps", made("a.mp4", *BFRAMES, *AAC, rate="60000/1001")), Kind("time", "1 fps", made("a.mp4", *X264, *AAC, rate="1", seconds="6")),
        Kind("time", "240 fps", made("a.mp4", *X264, *AAC, rate="240", seconds="1")), Kind("time", "12.5 fps in avi", made("a.avi", "-c:v", "mpeg4", "-c:a", "libmp3lame", rate="25/2")),
        Kind("time", "one picture", made("a.mp4", *X264, "-an", "-frames:v", "1")), Kind("time", "two pictures", made("a.mp4", *BFRAMES, "-an", "-frames:v", "2")),
        Kind("time", "variable rate, mkv", made("a.mkv", "-vf", "select='not(mod(n,3))+not(mod(n,7))'", "-vsync", "vfr", *BFRAMES, *AAC), short=True),
        Kind("time", "variable rate, mp4", made("a.mp4", "-vf", "select='lt(mod(n,10),6)'", "-vsync", "vfr", *BFRAMES, *AAC)),
        Kind("time", "a pause of 5 s", made("a.mkv", "-vf", "setpts='PTS+gte(N,25)*5/TB'", "-vsync", "vfr", *X264, "-an")),
        Kind("time", "begins at an hour, ts", then(base, remuxed("h.ts", "-c", "copy", "-output_ts_offset", "3600")), short=True),
        Kind("time", "begins at an hour, mkv", then(base, remuxed("h.mkv", "-c", "copy", "-output_ts_offset", "3600"))),
        Kind("time", "33-bit wrap, ts", then(base, remuxed("w.ts", "-c", "copy", "-output_ts_offset", "95442.7")), short=True),
        Kind("time", "negative times, mkv", then(base, remuxed("n.mkv", "-c", "copy", "-avoid_negative_ts", "disabled", before=("-itsoffset", "-0.5")))),
        Kind("time", "times step back, ts", joined(plain, made("r.ts", *X264, *AAC)), short=True),
        Kind("time", "two sizes joined, ts", joined(plain, small), short=True), Kind("time", "two sizes joined, mpg", joined(
            made("p.mpg", "-c:v", "mpeg2video", "-c:a", "mp2"), made("q.mpg", "-c:v", "mpeg2video", "-c:a", "mp2", size="128x96"), file="joined.mpg")),
        Kind("time", "sound later by 0.5 s", made("a.mkv", "-af", "asetpts=PTS+0.5/TB", *X264, *AAC)),
        Kind("time", "picture later by 0.5 s", made("a.mkv", "-vf", "setpts=PTS+0.5/TB", *X264, *AAC)),
        Kind("time", "picture later by 0.5 s, mp4", made("a.mp4", "-vf", "setpts=PTS+0.5/TB", "-vsync", "vfr", *X264, *AAC)),
        Kind("time", "an edit list that starts at a B picture", then(base, remuxed("e.mp4", "-c", "copy", before=("-ss", "0.3"))), short=True),
        Kind("time", "sound longer than the picture", made("a.mp4", "-frames:v", "25", *X264, *AAC)),
        Kind("time", "sound shorter than the picture", made("a.mp4", "-af", "atrim=duration=0.7", *X264, *AAC)),
        Kind("time", "time base of 1/1000", made("a.mkv", *BFRAMES, *AAC, rate="30000/1001")), Kind("time", "time base of 1/90000 in mov", made("a.mov", "-video_track_timescale", "90000", *BFRAMES, *AAC)),
        Kind("time", "avi without an index", then(made("a.avi", "-c:v", "mpeg4", "-bf", "2", "-c:a", "libmp3lame"), cut(0.985))),
        Kind("time", "ts cut from the middle", then(made("a.ts", *BFRAMES, "-g", "20", *AAC), lambda path, folder: cut_head(path, 0.4))),
        Kind("time", "open GOP, cut", then(made("a.ts", "-c:v", "mpeg2video", "-bf", "2", "-g", "12", "-c:a", "mp2"), lambda path, folder: cut_head(path, 0.4))),
    ]
    return rows


def cut_head(path, share):
    data = open(path, "rb").read()
    place = int(len(data) * share) // 188 * 188
    open(path, "wb").write(data[place:])
    return path


def shapes():
    rows = [(f"rotated by {angle}", then(made("a.mp4", *X264, *AAC), remuxed("r.mp4", "-c", "copy", f"-metadata:s:v:0", f"rotate={angle}")), angle == 90) for angle in (90, 180, 270)]
    rows += [("pixel aspect 16:11", made("a.mp4", "-vf", "setsar=16/11", *X264, *AAC), True), ("pixel aspect 8:9 in mpg", made("a.mpg", "-s", "720x480", "-aspect", "4:3", "-c:v", "mpeg2video", "-c:a", "mp2"), False),
             ("pixel aspect 4:3 in mkv", made("a.mkv", "-vf", "setsar=4/3", *X264, *AAC), False), ("aspect 16:9 in dv", made("a.dv", "-s", "720x576", "-aspect", "16:9", "-pix_fmt", "yuv420p", "-c:v", "dvvideo"), False),
             ("odd sides, FFV1", made("a.mkv", "-an", "-vf", "format=yuv444p,crop=159:119:0:0:exact=1", "-c:v", "ffv1", "-pix_fmt", "yuv444p"), True), ("odd width, GIF", made("a.gif", "-an", "-vf", "crop=157:118:0:0:exact=1"), False),
             ("16x16", made("a.mp4", *X264, *AAC, size="16x16"), False), ("very wide, 1600x64", made("a.mp4", *X264, "-an", size="1600x64"), False), ("very tall, 64x1280", made("a.mp4", *X264, "-an", size="64x1280"), False),
             ("cropped by the stream, 1080 lines", made("a.mp4", *X264, "-an", "-frames:v", "10", size="1920x1080"), False), ("rotated, with pixel aspect", then(made("a.mp4", "-vf", "setsar=2/1", *X264), remuxed("r.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90")), False)]
    return [Kind("shape", name, make, short=short) for name, make, short in rows]


def interlaced():
    field = dict(rate="50")
    rows = [("MPEG-2, top first", made("a.ts", *INTERLACE, "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-bf", "2", "-c:a", "mp2", **field), True),
            ("MPEG-2, bottom first", made("a.mpg", "-vf", "tinterlace=interleave_bottom,fieldorder=bff", "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-c:a", "mp2", **field), False),
            ("H.264, top first", made("a.mp4", *INTERLACE, *X264, "-x264-params", "tff=1", *AAC, **field), True),
            ("H.264, MBAFF in ts", made("a.ts", *INTERLACE, "-c:v", "libx264", "-flags", "+ilme+ildct", "-pix_fmt", "yuv420p", *AAC, **field), False),
            ("DV", made("a.dv", "-vf", "scale=720:576,tinterlace=interleave_bottom,fieldorder=bff,setfield=bff", "-pix_fmt", "yuv420p", "-c:v", "dvvideo", "-flags", "+ilme+ildct", **field), False),
            ("ProRes", made("a.mov", "-vf", "tinterlace=interleave_top,setfield=tff", "-flags", "+ilme+ildct", "-c:v", "prores_ks", "-an", **field), False),
            ("mixed with progressive", joined(made("a.ts", *INTERLACE, "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-an", **field), made("b.ts", "-c:v", "mpeg2video", "-an")), False)]
    return [Kind("interlaced", name, make, short=short) for name, make, short in rows]


def colours():
    hevc = ["--codec", "hevc"]
    rows = [Kind("colour", "HDR10 to HEVC", made("a.mp4", *HDR10, *AAC), True, hevc), Kind("colour", "HDR10 to H.264", made("a.mp4", *HDR10, *AAC)),
            Kind("colour", "HLG to HEVC", made("a.mov", *HLG, *AAC), False, hevc), Kind("colour", "HLG to H.264", made("a.mov", *HLG, *AAC)),
            Kind("colour", "BT.601 PAL, said so", made("a.mp4", *X264, "-color_primaries", "bt470bg", "-color_trc", "gamma28", "-colorspace", "bt470bg", "-an")),
            Kind("colour", "BT.709, said so", made("a.mp4", *X264, *COLOURS, "-an")), Kind("colour", "BT.601 NTSC in mkv", made("a.mkv", *X264, "-color_primaries", "smpte170m", "-color_trc", "smpte170m", "-colorspace", "smpte170m", "-an")),
            Kind("colour", "full range, MJPEG", made("a.mov", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-an")), Kind("colour", "full range, H.264 in mkv", made("a.mkv", "-c:v", "libx264", "-pix_fmt", "yuvj420p", "-an")),
            Kind("colour", "BT.2020 with 8 bits", made("a.mp4", *X264, "-color_primaries", "bt2020", "-color_trc", "bt2020-10", "-colorspace", "bt2020nc", "-an"))]
    return rows


def sounds():
    rows = [("Opus in mp4", "a.mp4", ("-c:a", "libopus"), 2, "48000"), ("Opus in mkv", "a.mkv", ("-c:a", "libopus"), 2, "48000"), ("FLAC in mkv", "a.mkv", ("-c:a", "flac"), 2, "48000"), ("FLAC in mp4", "a.mp4", ("-c:a", "flac", "-strict", "-2"), 2, "48000"),
            ("ALAC", "a.mov", ("-c:a", "alac"), 2, "44100"), ("PCM 16 in mov", "a.mov", ("-c:a", "pcm_s16le"), 2, "48000"), ("PCM 24 in mov", "a.mov", ("-c:a", "pcm_s24le"), 2, "96000"), ("PCM float in mkv", "a.mkv", ("-c:a", "pcm_f32le"), 2, "48000"),
            ("PCM in avi", "a.avi", ("-c:a", "pcm_s16le"), 2, "44100"), ("mu-law in mov", "a.mov", ("-c:a", "pcm_mulaw"), 1, "8000"), ("WMA", "a.mkv", ("-c:a", "wmav2"), 2, "44100"), ("TrueHD", "a.mkv", ("-c:a", "truehd", "-strict", "-2"), 6, "48000"),
            ("DTS", "a.mkv", ("-c:a", "dca", "-strict", "-2"), 6, "48000"), ("AC-3 5.1", "a.mkv", ("-c:a", "ac3"), 6, "48000"), ("E-AC-3 5.1", "a.mp4", ("-c:a", "eac3"), 6, "48000"), ("AAC 7.1", "a.mp4", ("-c:a", "aac"), 8, "48000"),
            ("MP3 mono", "a.avi", ("-c:a", "libmp3lame"), 1, "22050"), ("MP2", "a.ts", ("-c:a", "mp2"), 2, "48000"), ("Vorbis", "a.mkv", ("-c:a", "libvorbis"), 2, "44100"), ("IMA ADPCM", "a.mov", ("-c:a", "adpcm_ima_qt"), 2, "44100"),
            ("MS ADPCM", "a.avi", ("-c:a", "adpcm_ms"), 2, "44100"), ("AAC at 11025 Hz", "a.mp4", ("-c:a", "aac"), 1, "11025"), ("WavPack", "a.mkv", ("-c:a", "wavpack"), 2, "48000"), ("Speex", "a.mkv", ("-c:a", "libspeex"), 1, "16000")]
    short = {"Opus in mp4", "FLAC in mkv", "PCM 16 in mov"}
    return [Kind("sound", name, made(file, *X264, *options, channels=channels, sound_rate=rate), short=name in short) for name, file, options, channels, rate in rows]


CHAPTERS = b";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=Two\n"
SUBTITLES = b"1\n00:00:00,200 --> 00:00:00,900\nGood day\n\n2\n00:00:01,100 --> 00:00:01,800\nGood night\n"


def with_beside(file, beside, *options):
    """The test movie with an additional input."""
    def make(folder):
        extra = os.path.join(folder, beside[0])
        open(extra, "wb").write(beside[1])
        path = os.path.join(folder, file)
        run(FFMPEG + picture() + tone() + ["-i", extra] + list(options) + [path])
        return path
    return make


def metadata():
    tags = ("-metadata", "title=A film", "-metadata", "artist=A person", "-metadata", "comment=Some words", "-metadata", "date=2021")
    made_tags = tags + ("-metadata", "creation_time=2021-03-04T05:06:07Z", "-metadata", "location=+48.8577+002.2950/", "-metadata", "make=A maker", "-metadata", "model=A camera")
    three = ("-map", "0:v", "-map", "1:a", "-map", "1:a", "-map", "1:a", "-metadata:s:a:0", "language=deu", "-metadata:s:a:1", "language=eng", "-metadata:s:a:2", "language=fra")
    return [Kind("tracks", "tags in mp4", made("a.mp4", *X264, *AAC, *tags)), Kind("tracks", "tags in mkv", made("a.mkv", *X264, *AAC, *tags)),
            Kind("tracks", "camera's tags in mov", made("a.mov", *X264, *AAC, *made_tags, "-movflags", "use_metadata_tags"), True), Kind("tracks", "creation date in mp4", made("a.mp4", *X264, *AAC, *made_tags)),
            Kind("tracks", "three sound tracks", made("a.mp4", *three, *X264, *AAC), True), Kind("tracks", "three sound tracks, mkv", made("a.mkv", *three, *X264, "-c:a", "flac")),
            Kind("tracks", "chapters in mkv", with_beside("a.mkv", ("c.txt", CHAPTERS), "-map", "0", "-map", "1", "-map_metadata", "2", *X264, *AAC), True),
            Kind("tracks", "chapters in mp4", with_beside("a.mp4", ("c.txt", CHAPTERS), "-map", "0", "-map", "1", "-map_metadata", "2", *X264, *AAC)),
            Kind("tracks", "subtitles in mp4", with_beside("a.mp4", ("s.srt", SUBTITLES), "-map", "0", "-map", "1", "-map", "2", "-c:s", "mov_text", "-metadata:s:s:0", "language=deu", *X264, *AAC), True),
            Kind("tracks", "subtitles in mkv", with_beside("a.mkv", ("s.srt", SUBTITLES), "-map", "0", "-map", "1", "-map", "2", "-c:s", "srt", *X264, *AAC)),
            Kind("tracks", "ASS in mkv", with_beside("a.mkv", ("s.srt", SUBTITLES), "-map", "0", "-map", "1", "-map", "2", "-c:s", "ass", *X264, *AAC)),
            Kind("tracks", "WebVTT in mkv", with_beside("a.mkv", ("s.srt", SUBTITLES), "-map", "0", "-map", "1", "-map", "2", "-c:s", "webvtt", *X264, *AAC)),
            Kind("tracks", "two pictures", made("a.mkv", "-map", "0:v", "-map", "1:a", "-map", "0:v", *X264, *AAC)), Kind("tracks", "language of the picture", made("a.mp4", "-metadata:s:v:0", "language=jpn", *X264, *AAC)),
            Kind("tracks", "time code", made("a.mov", *X264, *AAC, "-timecode", "01:02:03:04"))]


def damage():
    fragments = made("a.mp4", *BFRAMES, *AAC, "-g", "10", "-movflags", "frag_keyframe+empty_moov")
    fast = made("a.mp4", *BFRAMES, *AAC, "-g", "10", "-movflags", "+faststart")
    rows = [("truncated fragmented mp4", then(fragments, cut(0.6)), True), ("truncated faststart mp4", then(fast, cut(0.6)), True), ("cut mp4 without its index", then(made("a.mp4", *X264, *AAC), cut(0.6)), True),
            ("cut avi", then(made("a.avi", "-c:v", "mpeg4", "-c:a", "libmp3lame"), cut(0.6)), True), ("cut flv", then(made("a.flv", *X264, *AAC), cut(0.6)), False), ("cut mkv", then(made("a.mkv", *BFRAMES, *AAC), cut(0.6)), False),
            ("cut ts", then(made("a.ts", *BFRAMES, *AAC), cut(0.6)), False), ("cut ogv", then(made("a.ogv", "-c:v", "libtheora", "-c:a", "libvorbis"), cut(0.6)), False), ("cut wmv", then(made("a.wmv", "-c:v", "wmv2", "-c:a", "wmav2"), cut(0.6)), False),
            ("cut mxf", then(made("a.mxf", "-c:v", "mpeg2video", "-c:a", "pcm_s16le"), cut(0.6)), False), ("cut y4m", then(made("a.y4m", "-an", "-pix_fmt", "yuv420p"), cut(0.61)), False), ("cut gif", then(made("a.gif", "-an"), cut(0.6)), False), ("cut Annex B", then(made("a.264", "-an", *BFRAMES), cut(0.6)), False),
            ("lost packets, MPEG-2", then(made("a.ts", "-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"), lost_packets(40)), False), ("lost packets, H.264", then(made("a.ts", *BFRAMES, "-g", "12", *AAC), lost_packets(40)), True),
            ("bytes overwritten, MPEG-4", then(made("a.avi", "-c:v", "mpeg4", "-c:a", "libmp3lame"), damaged(9000)), False), ("bytes overwritten, H.264 in mp4", then(made("a.mp4", *BFRAMES, "-g", "12", "-an", "-movflags", "+faststart", sound=False), damaged(15000, 12, 0.2)), True),
            ("bytes overwritten, MPEG-2", then(made("a.mpg", "-c:v", "mpeg2video", "-c:a", "mp2"), damaged(9000)), False), ("bytes overwritten, HEVC", then(made("a.mkv", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-an", sound=False), damaged(9000, 12)), False),
            ("bytes overwritten, VP9", then(made("a.webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-an", sound=False), damaged(20000, 12)), False), ("bytes overwritten, MJPEG", then(made("a.avi", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-an", sound=False), damaged(20000, 12)), False),
            ("rubbish after the end", then(made("a.mp4", *X264, *AAC), append(b"\x5a" * 5000)), False), ("rubbish before the start, ts", then(made("a.ts", *X264, *AAC), prepend(b"\x11" * 777)), False),
            ("an empty file", written("a.mp4", b""), True), ("a text", written("a.mp4", b"This is not a movie.\n" * 100), False), ("a sound file", lambda folder: sound_file(folder), False), ("zeros", written("a.ts", bytes(100000)), False)]
    return [Kind("damage", name, make, short=short) for name, make, short in rows]


def append(data):
    def change(path, _):
        open(path, "ab").write(data)
        return path
    return change


def prepend(data):
    def change(path, _):
        old = open(path, "rb").read()
        open(path, "wb").write(data + old)
        return path
    return change


def sound_file(folder):
    path = os.path.join(folder, "a.wav")
    run(FFMPEG + tone() + [path])
    return path


def ways_in():
    def linked(path, folder):
        link = os.path.join(folder, "link.mp4")
        os.symlink(path, link)
        return link

    def images(format, *options):
        def make(folder):
            run(FFMPEG + picture() + list(options) + [os.path.join(folder, f"frame%04d.{format}")])
            return os.path.join(folder, f"frame%04d.{format}")
        return make

    rate = dict(options=["--frame-rate", "25"], reader=["-framerate", "25"])
    return [Kind("way in", "a name with spaces, quotes and umlauts", made("a 'b' \"c\" äöü €.mp4", *X264, *AAC), True), Kind("way in", "a name with a colon", colon, False),
            Kind("way in", "a name with a percent sign", made("100%% of a.mp4", *X264, *AAC)), Kind("way in", "a name without an ending", then(made("a.mp4", *X264, *AAC), renamed("movie")), False), Kind("way in", "a wrong ending", then(made("a.mkv", *X264, *AAC), renamed("movie.avi")), False),
            Kind("way in", "a symbolic link", then(made("a.mp4", *X264, *AAC), linked), False), Kind("way in", "a pipe, mp4 with its index at the end", made("a.mp4", *X264, *AAC), True, pipe=True), Kind("way in", "a pipe, ts", made("a.ts", *BFRAMES, *AAC), False, pipe=True),
            Kind("way in", "a pipe, mkv", made("a.mkv", *BFRAMES, *AAC), False, pipe=True), Kind("way in", "a sequence of PNG", images("png"), True, **rate), Kind("way in", "a sequence of JPEG", images("jpg"), False, **rate),
            Kind("way in", "a sequence of TIFF, 16 bits", images("tiff", "-pix_fmt", "rgb48le"), False, **rate), Kind("way in", "a file address", lambda folder: "file://" + made("a.mp4", *X264, *AAC)(folder), True),
            Kind("way in", "one PNG", made("a.png", "-frames:v", "1", "-an")), Kind("way in", "one JPEG", made("a.jpg", "-frames:v", "1", "-an"))]


def colon(folder):
    path = made("a.mp4", *X264, *AAC)(folder)
    target = os.path.join(folder, "12:30 a.mp4")
    os.rename(path, target)
    return target


def renamed(name):
    def change(path, folder):
        target = os.path.join(folder, name)
        os.rename(path, target)
        return target
    return change


def all_kinds():
    return (containers() + codecs() + raw_formats() + rates_and_times() + shapes() + interlaced() + colours() + sounds()
            + metadata() + damage() + ways_in())
