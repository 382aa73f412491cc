"""The probe words: no template contains them, none is part of another, and no two begin or end alike."""

from __future__ import annotations

QUESTION = "Xq7 whither goes Yz3"
ANSWER = "Bv5 yonder runs Kt8"
THOUGHT = "Jm2 inward dwells Pw6"
RESULT = "Gd9 outward lies Hc4"

TOOLS = ("zorblax_fetch", "quimble_store")
KEYS = ("vexkey", "numkey")
VALUES = ("Wolfram11", "Selenium7")
IDS = ("Ra1Qx4Tb7", "Lc3Mv9Ns2")  # nine letters or digits: the one shape that every template takes
