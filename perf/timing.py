# SPDX-License-Identifier: Apache-2.0
"""What compare and measure share: running benchmarks, and saying what they ran on."""
import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def above_zero(kind):
    """What argparse takes for an option that is a number above 0: int or float."""
    def read(text):
        value = kind(text)
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value
    read.__name__ = kind.__name__
    return read


def cpu_number(text):
    """The same for a CPU that this program may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if int(text) not in allowed:
        raise argparse.ArgumentTypeError(f"CPU {text} is none of {', '.join(map(str, allowed))}")
    return int(text)


def open_to_write(path):
    """Before anything is measured, so that no figure is lost."""
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        fail(f"{path}: {error.strerror}")


def program_of(path):
    """The benchmarks' program of a build folder, or the program itself."""
    inside = os.path.join(path, "bin", "berth_perf")
    found = inside if os.path.isdir(path) else path
    if not os.access(found, os.X_OK):
        fail(f"{found} is no program; build the target berth_perf")
    return os.path.abspath(found)


def commit_of(program):
    """The commit of the sources that a build folder is of, with + when they were changed; empty when unknown."""
    cache = os.path.join(os.path.dirname(os.path.dirname(program)), "CMakeCache.txt")
    try:
        with open(cache, encoding="utf-8") as lines:
            source = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", lines.read(), re.M)[1]
        return subprocess.run(["git", "-C", source, "describe", "--always", "--abbrev=10", "--dirty=+",
                               "--exclude=*"], check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, TypeError, subprocess.CalledProcessError):
        return ""


def machine():
    """The processor, how many of it, the kernel and how busy it has been for a minute."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = re.search(r"^model name\s*: (.*)$", lines.read(), re.M)
    return {"processor": model[1] if model else platform.machine(), "cpus": os.cpu_count(),
            "kernel": platform.release(), "load": round(os.getloadavg()[0], 2)}


def run(program, options, cpu=None):
    """Runs benchmarks. Returns what Google Benchmark reports, one by one, without aggregates."""
    def pin():
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
    done = subprocess.run([program, "--benchmark_format=json", *options], preexec_fn=pin, check=False,
                          capture_output=True, text=True)
    if done.returncode or not done.stdout:
        fail(f"{program} {' '.join(options)}: {done.stderr.strip() or 'failed'}")
    return [one for one in json.loads(done.stdout)["benchmarks"] if one.get("run_type") != "aggregate"]


def names(program, pattern):
    listed = subprocess.run([program, "--benchmark_list_tests", f"--benchmark_filter={pattern}"], check=False,
                            capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if line and not line.startswith("Failed")]


def rate(one):
    """Items a second; where a benchmark counts none, runs a second of processor time."""
    return one.get("items_per_second") or 1e9 / one["cpu_time"]


def quantile(values, share):
    """Between the two nearest of the sorted values."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = ordered[math.floor(at)]
    return low + (ordered[math.ceil(at)] - low) * (at - math.floor(at))


def spread(values):
    """How far apart the middle half is, as a share of the median."""
    return (quantile(values, 0.75) - quantile(values, 0.25)) / quantile(values, 0.5)


def median_interval(values, confidence=0.95):
    """The narrowest interval between two of the values, as many from each end, that holds the median of what they were
    drawn from with that confidence, whatever the distribution: (low, high, confidence). With fewer than six values it
    is all of them."""
    ordered, n = sorted(values), len(values)
    cut, outside = 0, 2 * 0.5 ** n
    while cut + 1 < n - cut - 1:
        more = outside + 2 * math.comb(n, cut + 1) * 0.5 ** n
        if 1 - more < confidence:
            break
        cut, outside = cut + 1, more
    return ordered[cut], ordered[n - 1 - cut], 1 - outside
