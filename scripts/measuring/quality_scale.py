# SPDX-License-Identifier: Apache-2.0
"""What `--quality` means: the SSIM and the size of each quality beside libx264 `medium` at a rate factor (CRF).

All encoders have one thread and their default tuning. A quality is as good as the rate factor of the same SSIM (all planes, by
ffmpeg's filter), interpolated between those of FACTORS on the scale of -log(1 - SSIM). The default of `vtencode transcoding` is
the quality whose mean SSIM over the clips is that of CRF 23.
"""
import math
import os
import re

import results

FACTORS = (11, 15, 17, 19, 21, 23, 25, 27, 30, 34)
QUALITIES = ("0.3", "0.4", "0.47", "0.5", "0.6", "0.7", "0.8")
ENCODERS = {
    "own": (),
    "libx264": ("--encoder", "org.openvideotoolbox.videoencoder.h264.x264"),
    "libx265": ("--codec", "hevc"),
}


def similarity(encoded, source):
    """SSIM of all planes, of pictures compared by their order."""
    told, _ = results.run("ffmpeg", "-nostdin", "-v", "info", "-i", encoded, "-i", source, "-lavfi",
                          "[0:v]settb=AVTB,setpts=N[a];[1:v]settb=AVTB,setpts=N[b];[a][b]ssim", "-f", "null", "-")
    return float(re.search(r"SSIM .*All:([0-9.]+)", told)[1])


def factor(points, wanted):
    """The rate factor of an SSIM, by points of SSIM and factor."""
    scale = sorted((-math.log(max(1 - value, 1e-9)), of) for value, of in points)
    wanted = -math.log(max(1 - wanted, 1e-9))
    pairs = list(zip(scale, scale[1:]))
    (low, first), (high, second) = next((pair for pair in pairs if wanted <= pair[1][0]), pairs[-1])
    return first + (second - first) * (wanted - low) / (high - low)


def measure(source, folder):
    """For each encoder and quality: the rate factor of the same SSIM, the size and the SSIM beside CRF 23."""
    out = os.path.join(folder, "scale.mkv")
    points, base, best = [], 1, 1
    for of in FACTORS:
        results.run("ffmpeg", "-nostdin", "-v", "error", "-y", "-i", source, "-c:v", "libx264", "-preset", "medium",
                    "-threads", "1", "-crf", str(of), out)
        points.append((similarity(out, source), of))
        if of == 23:
            base, best = os.path.getsize(out), points[-1][0]
    found = {}
    out = os.path.join(folder, "scale.mp4")
    for name, options in ENCODERS.items():
        for quality in QUALITIES:
            results.run(results.VTENCODE, "transcoding", source, "--quality", quality, *options, "--threads", "1",
                        "--progress", "none", "--overwrite", "--out", out)
            value = similarity(out, source)
            found[name, quality] = (factor(points, value), os.path.getsize(out) / base, value - best)
    return found


def table(measured):
    """Rows of Markdown: the mean over the clips, and the range of the rate factors."""
    yield "| encoder | `--quality` | SSIM as with CRF | from clip to clip | size beside CRF 23 | SSIM beside CRF 23 |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name in ENCODERS:
        for quality in QUALITIES:
            factors, sizes, gains = zip(*(found[name, quality] for found in measured.values()))
            size = math.exp(sum(map(math.log, sizes)) / len(sizes))
            yield (f"| {name} | {quality} | {sum(factors) / len(factors):.1f} | {min(factors):.1f} to {max(factors):.1f} "
                   f"| {size:.2f} | {sum(gains) / len(gains):+.4f} |")
