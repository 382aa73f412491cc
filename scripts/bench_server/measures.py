"""Sums over answers, and the statistics of pairs. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from bench_server.client import Answer


def decode_rate(answers: Sequence[Answer]) -> float:
    """Tokens a second from the first text of any to the last of any; first tokens belong to the reading."""
    began = min(answer.arrivals[0] for answer in answers)
    ended = max(answer.arrivals[-1] for answer in answers)
    return sum(answer.tokens - 1 for answer in answers) / (ended - began)


def total_rate(answers: Sequence[Answer]) -> float:
    """Tokens a second from the first request sent to the last text."""
    began = min(answer.began for answer in answers)
    return sum(answer.tokens for answer in answers) / (max(answer.arrivals[-1] for answer in answers) - began)


def token_ms(answers: Sequence[Answer]) -> float:
    """Milliseconds a token of one stream, after its first."""
    spans = [1000 * (answer.arrivals[-1] - answer.arrivals[0]) / (answer.tokens - 1) for answer in answers]
    return median(spans)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
