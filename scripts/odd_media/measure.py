# SPDX-License-Identifier: Apache-2.0
"""Measures the properties of a movie with ffprobe and ffmpeg."""
import json
import subprocess


class Movie:
    """The pictures, times, picture shape, colors, audio and metadata of a file. All are empty if
    the file cannot be read."""

    def __init__(self, path, reader=()):
        facts = probe(path, reader, "-show_format", "-show_streams", "-show_chapters")
        streams = facts.get("streams", [])
        self.tags = {k.lower(): v for k, v in facts.get("format", {}).get("tags", {}).items()}
        self.chapters = len(facts.get("chapters", []))
        kinds = [s.get("codec_type") for s in streams]
        self.sounds = [s for s in streams if s.get("codec_type") == "audio"]
        self.subtitles = kinds.count("subtitle")
        self.video = next((s for s in streams if s.get("codec_type") == "video"), None)
        self.times, self.frames, self.interlaced = [], 0, 0
        self.shown = None
        if self.video is not None:
            self.look(path, reader)
        self.sound_start, self.sound_end = span(path, "a:0", reader) if self.sounds else (None, None)

    def look(self, path, reader):
        entries = "frame=best_effort_timestamp_time,duration_time,pkt_duration_time,interlaced_frame,width,height,sample_aspect_ratio"
        frames = probe(path, reader, "-select_streams", "v:0", "-show_frames", "-show_entries", entries).get("frames", [])
        self.frames = len(frames)
        self.interlaced = sum(f.get("interlaced_frame", 0) for f in frames)
        self.times = [float(f["best_effort_timestamp_time"]) for f in frames if "best_effort_timestamp_time" in f]
        last = next((f[k] for f in frames[-1:] for k in ("duration_time", "pkt_duration_time") if f.get(k, "N/A") != "N/A"), 0)
        self.last = float(last)
        self.codec = self.video.get("codec_name")
        self.format = self.video.get("pix_fmt")
        self.colour = tuple(self.video.get(k) if self.video.get(k) not in ("unknown", "reserved", "unspecified") else None
                            for k in ("color_primaries", "color_transfer", "color_space"))
        width, height = self.video.get("width") or 0, self.video.get("height") or 0
        if frames and frames[0].get("width"):
            width, height = frames[0]["width"], frames[0]["height"]
        ratio = (frames[0] if frames else {}).get("sample_aspect_ratio") or self.video.get("sample_aspect_ratio") or "1:1"
        across, down = (int(x) for x in ratio.split(":")) if ratio != "N/A" else (1, 1)
        shape = width * (across / down if across and down else 1), height
        rotation = next((abs(int(float(d.get("rotation", 0)))) for d in self.video.get("side_data_list", []) if "rotation" in d), 0)
        self.shown = shape if rotation % 180 == 0 else shape[::-1]

    @property
    def aspect(self):
        return self.shown[0] / self.shown[1] if self.shown and self.shown[1] else 0

    @property
    def ordered(self):
        """The times relative to the first picture. The list is empty if the file has no times or if
        they are not ascending."""
        times = self.times
        rises = all(a < b for a, b in zip(times, times[1:]))
        return [t - times[0] for t in times] if len(times) == self.frames and times and rises else []

    @property
    def length(self):
        return self.ordered[-1] + self.last if self.ordered else 0

    @property
    def lead(self):
        """The time in seconds by which the audio starts before the first picture."""
        return max(0, -self.offset) if self.offset is not None else 0

    @property
    def offset(self):
        """The time in seconds from the first picture to the start of the audio."""
        if self.sound_start is None or not self.times:
            return None
        return self.sound_start - min(self.times)


def probe(path, reader, *arguments):
    answer = subprocess.run(["ffprobe", "-v", "quiet", *reader, *arguments, "-of", "json", path],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=120)
    try:
        return json.loads(answer.stdout.decode(errors="replace"))
    except ValueError:
        return {}


def span(path, stream, reader):
    packets = probe(path, reader, "-select_streams", stream, "-show_entries", "packet=pts_time,duration_time").get("packets", [])
    times = [(float(p["pts_time"]), float(p.get("duration_time", 0))) for p in packets if p.get("pts_time", "N/A") != "N/A"]
    return (min(t for t, _ in times), max(t + d for t, d in times)) if times else (None, None)


def errors(path):
    """The errors that ffmpeg reports when it decodes the whole file."""
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-map", "0:v", "-map", "0:a?", "-f", "null", "-"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
    # Ignores messages about times that are caused by the null muxer, which counts whole frames.
    lines = done.stderr.decode(errors="replace").splitlines()
    return "\n".join(line for line in lines if "increasing dts to muxer" not in line)


def thumbnails(path, reader=(), count=5):
    """The first pictures, small and in RGB, as they are displayed."""
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "quiet", *reader, "-i", path, "-map", "0:v:0", "-frames:v", str(count),
                           "-vf", "format=rgb24,scale=32:32:flags=area", "-vsync", "passthrough", "-f", "rawvideo", "-"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    return done.stdout


def loudness(path, reader=()):
    """The volume of the first audio track in decibels, or None if there is no audio."""
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "info", *reader, "-i", path, "-map", "0:a:0", "-af", "volumedetect", "-f", "null", "-"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
    for line in done.stderr.decode(errors="replace").splitlines():
        if "mean_volume:" in line:
            return float(line.split("mean_volume:")[1].split()[0])
    return None


def difference(one, other):
    """The mean difference of samples in the range 0 to 255, or None if there is nothing to compare.
    """
    count = min(len(one), len(other))
    if count == 0:
        return None
    return sum(abs(a - b) for a, b in zip(one[:count], other[:count])) / count
