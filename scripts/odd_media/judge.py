# SPDX-License-Identifier: Apache-2.0
"""Compares what each program has preserved of a source, and finds where vtencode is worse than
ffmpeg."""
from . import measure

TAGS = ("title", "artist", "comment", "date", "creation_time", "location", "make", "model")


class Result:
    """The result of one program in comparison with its source."""

    def __init__(self, source, path, status, message):
        self.status, self.message = status, message
        self.movie = measure.Movie(path)
        self.path = path
        self.errors = measure.errors(path) if self.movie.frames else ""
        self.picture = measure.difference(source.thumbnails, measure.thumbnails(path)) if self.movie.frames else None
        self.loudness = measure.loudness(path) if self.movie.sounds else None
        movie, of = self.movie, source.movie
        # The largest difference of presentation times in seconds, if all pictures are there.
        pairs = list(zip(movie.ordered, of.ordered)) if len(movie.ordered) == len(of.ordered) else []
        self.drift = max((abs(a - b) for a, b in pairs), default=None)
        self.late = min(movie.times) if movie.times else None
        both = movie.offset is not None and of.offset is not None
        self.offset = movie.offset - of.offset if both else None
        self.tags = {k for k in TAGS if k in of.tags and same_tag(movie.tags, of.tags, k)}

    def cell(self):
        """The result as it is shown in the table."""
        m = self.movie
        if not m.frames:
            return f"status {self.status}, nothing"
        drift = "?" if self.drift is None else f"{self.drift * 1000:.0f}"
        offset = "" if self.offset is None else f" a/v {self.offset * 1000:+.0f}"
        sound = ",".join(s.get("codec_name", "?") for s in m.sounds) or "-"
        colour = "/".join(c or "-" for c in m.colour)
        picture = "?" if self.picture is None else f"{self.picture:.1f}"
        return (f"{self.status} | {m.frames} | {m.length:.2f} s, off {drift} ms{offset} | {m.aspect:.3f} | {m.format} {colour}, "
                f"differs {picture} | {sound} | {len(self.tags)} tags, {m.chapters} ch, {m.subtitles} sub")


def same_tag(tags, of, key):
    value = next((tags[k] for k in (key, f"com.apple.quicktime.{key}") if k in tags), None)
    if key == "location":
        value = value or tags.get("com.apple.quicktime.location.iso6709")
    if key == "date":
        value = value or tags.get("com.apple.quicktime.creationdate")
    if key == "creation_time":
        return (value or "")[:19] == of[key][:19]
    return value is not None and value.strip("/") == of[key].strip("/")


class Source:
    def __init__(self, path, reader=()):
        self.movie = measure.Movie(path, reader)
        self.thumbnails = measure.thumbnails(path, reader) if self.movie.frames else b""
        self.loudness = measure.loudness(path, reader) if self.movie.sounds else None


def faults(source, ours, theirs):
    """Descriptions of how vtencode's result is worse than ffmpeg's. The list is empty if it is not
    worse."""
    of, a, b = source.movie, ours.movie, theirs.movie
    found = []
    # Status 2 means that the input is damaged and the readable part was written.
    if ours.status not in (0, 1, 2, 64) or "Fatal" in ours.message:
        return [f"ended with status {ours.status}"]
    if not a.frames:
        if ours.status == 0:
            found.append("nothing written, and said to be well")
        return found + (["no movie"] if b.frames else [])
    if not b.frames:
        return ["undecodable"] if ours.errors else []
    if ours.errors and not theirs.errors:
        found.append("undecodable")
    if a.frames < min(b.frames, of.frames or b.frames):
        found.append(f"{a.frames} frames of {min(b.frames, of.frames or b.frames)}")
    step = of.length / of.frames if of.frames else 0.04
    if ours.drift is not None and ours.drift > max((theirs.drift or 0) + 0.002, 0.002 + step / 4):
        found.append(f"times off by {ours.drift * 1000:.0f} ms")
    if of.length and abs(a.length - of.length) > max(abs(b.length - of.length) + step, 1.5 * step):
        found.append(f"{a.length:.2f} s in place of {of.length:.2f}")
    if ours.late is not None and ours.late > max((theirs.late or 0) + 0.05, of.lead + 0.1):
        found.append(f"begins at {ours.late:.2f} s")
    if ours.offset is not None and theirs.offset is not None and abs(ours.offset) > max(abs(theirs.offset) + 0.01, 0.045):
        found.append(f"sound shifted by {ours.offset * 1000:.0f} ms")
    if of.aspect and abs(a.aspect / of.aspect - 1) > max(abs(b.aspect / of.aspect - 1) + 0.01, 0.02):
        found.append(f"aspect {a.aspect:.3f} in place of {of.aspect:.3f}")
    if a.shown and b.shown and (a.shown[1] < b.shown[1] - 2 or a.shown[0] < b.shown[0] - 3):
        found.append("smaller")
    for name, mine, other in zip(("primaries", "transfer", "matrix"), a.colour, b.colour):
        if other is not None and mine is None:
            found.append(f"colour {name} unsaid")
    if ours.picture is not None and theirs.picture is not None and ours.picture > theirs.picture + 4:
        found.append(f"pictures differ by {ours.picture:.1f}")
    if len(a.sounds) < len(b.sounds):
        found.append("sound left out")
    if a.sounds and b.sounds and source.loudness is not None:
        if abs((ours.loudness or -99) - source.loudness) > abs((theirs.loudness or -99) - source.loudness) + 2:
            found.append(f"sound of {ours.loudness} dB in place of {source.loudness}")
        mine, other = a.sound_end - a.sound_start, b.sound_end - b.sound_start
        if mine < other - 0.1:
            found.append(f"{mine:.2f} s of sound in place of {other:.2f}")
        if (a.sounds[0].get("channels") or 0) < min(b.sounds[0].get("channels") or 0, 6):
            found.append("fewer channels")
    lost = theirs.tags - ours.tags
    if lost:
        found.append("without " + ", ".join(sorted(lost)))
    if a.chapters < b.chapters:
        found.append("without chapters")
    if a.subtitles < b.subtitles:
        found.append("without subtitles")
    return found
