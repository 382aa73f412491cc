"""Tool calls in a model's text: one file a syntax, one splitter for all of them.

`SYNTAXES` names every syntax as `posture/` does (wire formats, section 1, tool_format). A new one is one file here, one
line below, and its constraint in `grammar/tools/` (a test pairs the two lists).
"""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.output.tool_calls.apertus import Apertus
from ferrox_gguf.output.tool_calls.apriel import Apriel
from ferrox_gguf.output.tool_calls.cohere import Cohere
from ferrox_gguf.output.tool_calls.command_r_plus import CommandRPlus
from ferrox_gguf.output.tool_calls.deepseek_r1 import DeepSeekR1
from ferrox_gguf.output.tool_calls.deepseek_v31 import DeepSeekV31
from ferrox_gguf.output.tool_calls.deepseekv32 import DeepSeekV32
from ferrox_gguf.output.tool_calls.firefunction import FireFunction
from ferrox_gguf.output.tool_calls.functionary_v31 import FunctionaryV31
from ferrox_gguf.output.tool_calls.functionary_v32 import FunctionaryV32
from ferrox_gguf.output.tool_calls.gemma4 import Gemma4
from ferrox_gguf.output.tool_calls.gigachat3 import GigaChat3
from ferrox_gguf.output.tool_calls.gigachat31 import GigaChat31
from ferrox_gguf.output.tool_calls.glm47 import Glm47
from ferrox_gguf.output.tool_calls.granite33 import Granite33
from ferrox_gguf.output.tool_calls.hermes import Hermes
from ferrox_gguf.output.tool_calls.hunyuan_v3 import HunyuanV3
from ferrox_gguf.output.tool_calls.kimi_k2 import KimiK2
from ferrox_gguf.output.tool_calls.kimi_k3 import KimiK3
from ferrox_gguf.output.tool_calls.lfm2 import Lfm2
from ferrox_gguf.output.tool_calls.llama3 import Llama3
from ferrox_gguf.output.tool_calls.minicpm5 import MiniCpm5
from ferrox_gguf.output.tool_calls.minimax import MiniMaxM2
from ferrox_gguf.output.tool_calls.minimax_m1 import MiniMaxM1
from ferrox_gguf.output.tool_calls.minimax_m3 import MiniMaxM3
from ferrox_gguf.output.tool_calls.mistral import Mistral
from ferrox_gguf.output.tool_calls.mistral_v11 import MistralV11
from ferrox_gguf.output.tool_calls.nemotron_v2 import NemotronV2
from ferrox_gguf.output.tool_calls.qwen3_coder import Qwen3Coder
from ferrox_gguf.output.tool_calls.seed_oss import SeedOss
from ferrox_gguf.output.tool_calls.solar_open import SolarOpen
from ferrox_gguf.output.tool_calls.splitter import ToolCallSplitter
from ferrox_gguf.output.tool_calls.syntax import Syntax

SYNTAXES: dict[str, Callable[[], Syntax]] = {
    "qwen25": Hermes,
    "apertus": Apertus,
    "apriel": Apriel,
    "cohere": Cohere,
    "command_r_plus": CommandRPlus,
    "deepseek_r1": DeepSeekR1,
    "deepseek_v31": DeepSeekV31,
    "firefunction": FireFunction,
    "functionary_v31": FunctionaryV31,
    "functionary_v32": FunctionaryV32,
    "gigachat3": GigaChat3,
    "gigachat31": GigaChat31,
    "granite33": Granite33,
    "kimi_k2": KimiK2,
    "llama3": Llama3,
    "minimax_m1": MiniMaxM1,
    "mistral": Mistral,
    "mistral_v11": MistralV11,
    "nemotron_v2": NemotronV2,
    "solar_open": SolarOpen,
    "deepseekv32": DeepSeekV32,
    "glm47": Glm47,
    "hunyuan_v3": HunyuanV3,
    "kimi_k3": KimiK3,
    "minicpm5": MiniCpm5,
    "minimax": MiniMaxM2,
    "qwen3_coder": Qwen3Coder,
    "seed_oss": SeedOss,
    "minimax_m3": MiniMaxM3,
    "gemma4": Gemma4,
    "lfm2": Lfm2,
}

__all__ = ["SYNTAXES", "Syntax", "ToolCallSplitter"]
