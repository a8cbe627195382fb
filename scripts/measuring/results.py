# SPDX-License-Identifier: Apache-2.0
"""What the scripts that measure share: programs that are run and timed, and results that are written as JSON.

A result is one table that answers one question. `scripts/measurements` makes the pages of docs/measurements from them.
"""
import datetime
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs/measurements/results")
VTENCODE = os.path.abspath(os.environ.get("VTENCODE") or os.path.join(ROOT, ".build/release/vtencode"))


def run(*arguments):
    """Runs a program; returns its output and the seconds of processor time that it took."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        sys.exit(f"{' '.join(arguments)} failed: {told[-800:]}")
    return told, usage.ru_utime + usage.ru_stime


def machine():
    """The processor and how many there are, as /proc/cpuinfo tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"model name\s*: (.*)", file.read())
    except OSError:
        found = None
    count = os.cpu_count() or 1
    return f"{count} processor{'s' if count != 1 else ''}, {found[1] if found else os.uname().machine}"


def commit():
    """The commit that was measured: COMMIT in the environment, or the one that is checked out."""
    named = os.environ.get("COMMIT")
    if named:
        return named
    done = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def write(name, result):
    """Writes a result with the date, the commit and the machine; `name` is the file's, without its ending."""
    result = {"date": datetime.date.today().isoformat(), "commit": commit(), "machine": machine(), **result}
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1, ensure_ascii=False)
        file.write("\n")
    print(f"Written: {path}", file=sys.stderr)
