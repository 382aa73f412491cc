#!/usr/bin/env python3
"""Measure ferrox-server against llama-server, in turn on one machine, and print one table.

usage: bench.py [--pairs 5] [--only decode-8,shared] [--peers llama-server] [--threads 2] [--smoke]

The first time, llama-server is built from the source package that our llama.cpp came from (bench/peers/). Everything
that was measured is saved under bench/results/. Exit status 1 when a target is missed. The machine must be idle.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench_server.client import BadAnswer
from bench_server.constrained import CONSTRAINED
from bench_server.front import FRONT
from bench_server.loads import LOADS
from bench_server.machine import machine, versions
from bench_server.peers import HOME, LLAMA_SERVER, PEERS, ROOT
from bench_server.process import DidNotStart, Peer
from bench_server.report import document, save, table
from bench_server.runner import Measured, ModelMissing, Plan, run
from bench_server.scenario import SMOKE, Scenario, Sizes
from bench_server.whole import WHOLE

SCENARIOS = {scenario.name: scenario for scenario in (*LOADS, *CONSTRAINED, *WHOLE, FRONT)}
OUTPUT = "output"
"""Not a scenario of two servers: the output chain alone, by a script of its own."""

RESULTS = ROOT / "bench" / "results"


def main() -> int:
    options = arguments()
    # As after Ctrl-C: the servers go when this goes.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if os.getloadavg()[0] > 0.5:
        say(f"this machine is busy (load {os.getloadavg()[0]:.1f}): the numbers will not mean much")
    scenarios = [SCENARIOS[each] for each in options.only if each != OUTPUT]
    needed = {name for scenario in scenarios for name in scenario.peers}
    peers = {name: PEERS[name]() for name in options.peers if name in needed}
    sizes = SMOKE if options.smoke else Sizes()
    plan = Plan(options.pairs, options.threads, sizes, HOME / "logs", progress)
    server = peers.get(LLAMA_SERVER)
    about = {"machine": machine(), "versions": versions(Path(server.command[0]) if server else None)}
    name = time.strftime("%Y-%m-%dT%H-%M-%S") + ("-smoke" if options.smoke else "")
    chain = output_chain() if OUTPUT in options.only else (True, "")
    measured, failed = measure(scenarios, peers, plan)
    rows = [row for each in measured for row in each.rows()]
    printed = "\n\n".join(
        part for part in (heading(options), chain[1], table(rows) if rows else "", "\n".join(failed)) if part
    )
    print(printed)
    print(f"\nsaved as {save(RESULTS, name, printed, {**document(measured, plan, about), 'failed': failed})}")
    return 0 if chain[0] and not failed and all(row.met is not False for row in rows) else 1


def arguments() -> argparse.Namespace:
    names = [*SCENARIOS, OUTPUT]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5, help="measurements of each side, in turn (default: 5)")
    parser.add_argument("--only", type=chosen(names), default=names, help=f"of: {', '.join(names)}")
    parser.add_argument("--peers", type=chosen(PEERS), default=[LLAMA_SERVER], help=f"of: {', '.join(PEERS)}")
    parser.add_argument("--threads", type=int, default=2, help="-t of every server (default: 2)")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: shows that it runs, measures nothing")
    return parser.parse_args()


def chosen(names: Sequence[str]):
    """A comma-separated list of these names, as an argument's type."""

    def parse(text: str) -> list[str]:
        wanted = [name for name in text.split(",") if name]
        if unknown := set(wanted) - set(names):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not one of {', '.join(names)}")
        return wanted

    return parse


def measure(scenarios: Sequence[Scenario], peers: dict[str, Peer], plan: Plan) -> tuple[list[Measured], list[str]]:
    """What was measured, and a line for each scenario that could not be."""
    done: list[Measured] = []
    failed: list[str] = []
    for scenario in scenarios:
        try:
            done.append(run(scenario, [peer for name, peer in peers.items() if name in scenario.peers], plan))
        except (BadAnswer, DidNotStart, ModelMissing, OSError) as error:
            failed.append(f"{scenario.name}: {error}")
            say(failed[-1])
        except (KeyboardInterrupt, SystemExit):
            # What was measured until now is worth keeping.
            failed.append(f"{scenario.name}: stopped by hand, and everything after it")
            break
        else:
            say(table(done[-1].rows()).split("\n", 2)[2])
    return done, failed


def output_chain() -> tuple[bool, str]:
    """Did it keep its bounds, and what it printed."""
    progress("output: the chain alone")
    script = [sys.executable, str(Path(__file__).with_name("bench_output.py"))]
    done = subprocess.run(script, capture_output=True, text=True)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def heading(options: argparse.Namespace) -> str:
    note = "SMOKE TEST: tiny sizes, the numbers mean nothing. " if options.smoke else ""
    return f"{note}Medians of {options.pairs} pairs in turn, {options.threads} threads."


def progress(line: str) -> None:
    """One line that moves on a terminal; lines in a log."""
    ends = {"end": "\r"} if sys.stderr.isatty() else {}
    print(f"  {line}".ljust(78), file=sys.stderr, flush=True, **ends)


def say(text: str) -> None:
    print(text.ljust(80) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
