"""`make bench`: ferrox-server and its peers under the same load, in turn, on one machine.

metrics (what is compared, and the targets) → scenarios (one file a kind of load) → runner (pairs, in turn) → report.
client reads answers, process owns servers, peers builds what we compare with.
"""
