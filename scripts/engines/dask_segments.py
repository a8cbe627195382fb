#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encodes the segments of a plan with Dask, and joins them.

    pip install 'dask[distributed]'
    vtencode split movie.mov --bitrate 3M --plan plan.json
    scripts/engines/dask_segments.py plan.json movie.mp4 --workers 2
    scripts/engines/dask_segments.py plan.json movie.mp4 --scheduler tcp://host:8786

Without --scheduler, the workers are processes on this machine. Otherwise, the plan, its folder and
the movie must be accessible to all workers. If a segment fails or its worker dies, the segment is
encoded again individually. If the script is started again, it continues where it stopped. VTENCODE
is the program.
"""
import argparse
import json
import os
import subprocess
import sys

from dask.distributed import Client, LocalCluster, as_completed


def encode(vtencode, plan, segment):
    done = subprocess.run(
        [vtencode, "encode-segment", "--plan", plan, "--segment", str(segment), "--progress", "none"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"segment {segment}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("output")
    parser.add_argument("--scheduler", help="address of a scheduler; without it workers are started here")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes to start here")
    options = parser.parse_args()
    vtencode = os.environ.get("VTENCODE", "vtencode")
    plan = os.path.abspath(options.plan)
    with open(plan) as file:
        segments = len(json.load(file)["segments"])

    cluster = None
    if not options.scheduler:
        cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None)
    with Client(options.scheduler or cluster) as client:
        # The results of the workers are on disk, and the program itself checks whether they are
        # complete.
        futures = [client.submit(encode, vtencode, plan, n, retries=2, pure=False) for n in range(segments)]
        for future in as_completed(futures):
            print(future.result(), flush=True)
    if cluster:
        cluster.close()
    return subprocess.run([vtencode, "join", "--plan", plan, "--out", options.output]).returncode


if __name__ == "__main__":
    sys.exit(main())
