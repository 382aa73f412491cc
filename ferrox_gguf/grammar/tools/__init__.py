"""Tool calls as constraints: one grammar for every syntax of `output/tool_calls` (a test pairs the two lists)."""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.grammar.tools.apertus import Apertus
from ferrox_gguf.grammar.tools.apriel import Apriel
from ferrox_gguf.grammar.tools.cohere import Cohere
from ferrox_gguf.grammar.tools.command_r_plus import CommandRPlus
from ferrox_gguf.grammar.tools.custom import Custom
from ferrox_gguf.grammar.tools.deepseek_r1 import DeepSeekR1
from ferrox_gguf.grammar.tools.deepseek_v31 import DeepSeekV31
from ferrox_gguf.grammar.tools.deepseekv32 import DeepSeekV32
from ferrox_gguf.grammar.tools.firefunction import FireFunction
from ferrox_gguf.grammar.tools.functionary_v31 import FunctionaryV31
from ferrox_gguf.grammar.tools.functionary_v32 import FunctionaryV32
from ferrox_gguf.grammar.tools.gemma4 import Gemma4
from ferrox_gguf.grammar.tools.gigachat3 import GigaChat3
from ferrox_gguf.grammar.tools.gigachat31 import GigaChat31
from ferrox_gguf.grammar.tools.glm47 import Glm47
from ferrox_gguf.grammar.tools.gpt_oss import GptOss
from ferrox_gguf.grammar.tools.granite33 import Granite33
from ferrox_gguf.grammar.tools.hermes import Hermes
from ferrox_gguf.grammar.tools.hunyuan_v3 import HunyuanV3
from ferrox_gguf.grammar.tools.kimi_k2 import KimiK2
from ferrox_gguf.grammar.tools.kimi_k3 import KimiK3
from ferrox_gguf.grammar.tools.lfm2 import Lfm2
from ferrox_gguf.grammar.tools.llama3 import Llama3
from ferrox_gguf.grammar.tools.minicpm5 import MiniCpm5
from ferrox_gguf.grammar.tools.minimax import MiniMaxM2
from ferrox_gguf.grammar.tools.minimax_m1 import MiniMaxM1
from ferrox_gguf.grammar.tools.minimax_m3 import MiniMaxM3
from ferrox_gguf.grammar.tools.mistral import Mistral
from ferrox_gguf.grammar.tools.mistral_v11 import MistralV11
from ferrox_gguf.grammar.tools.muse_glimmer import MuseGlimmer
from ferrox_gguf.grammar.tools.nemotron_v2 import NemotronV2
from ferrox_gguf.grammar.tools.qwen3_coder import Qwen3Coder
from ferrox_gguf.grammar.tools.rules import CallRules, ToolGrammar
from ferrox_gguf.grammar.tools.seed_oss import SeedOss
from ferrox_gguf.grammar.tools.solar_open import SolarOpen

GRAMMARS: dict[str, Callable[[], ToolGrammar]] = {
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
    "custom": Custom,
    "deepseekv32": DeepSeekV32,
    "gemma4": Gemma4,
    "glm47": Glm47,
    "gpt_oss": GptOss,
    "hunyuan_v3": HunyuanV3,
    "kimi_k3": KimiK3,
    "lfm2": Lfm2,
    "minicpm5": MiniCpm5,
    "minimax": MiniMaxM2,
    "minimax_m3": MiniMaxM3,
    "muse_glimmer": MuseGlimmer,
    "qwen3_coder": Qwen3Coder,
    "seed_oss": SeedOss,
}

__all__ = ["GRAMMARS", "CallRules", "ToolGrammar"]
