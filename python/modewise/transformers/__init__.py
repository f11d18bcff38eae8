"""modewise's exactly causal summary attention for models of Hugging Face Transformers.

The import registers `attn_implementation="modewise_causal"` for Llama-like decoders, and the architecture
`ModewiseForCausalLM` of the program's exports:

    import modewise.transformers
    model = AutoModelForCausalLM.from_pretrained(FOLDER)                     # a run's model/, or a saved model
    model = modewise.transformers.prepare(LLAMA, fold=[0, 8, 8], summary_tokens=2)  # an existing model
    model = modewise.transformers.prepare(LLAMA, attention="axial")          # the paper's tensorized attention
    config = modewise.transformers.configure(CONFIG, fold=[0, 8, 8])         # a config of a new model

Queries and keys of a block summary are rotated by the block's position among its siblings, not by a token position. The
library's rotary embedding is therefore the identity for this attention, and the operator rotates tokens and summaries.
"""

import torch

try:
    import transformers
except ImportError:
    raise ImportError("modewise.transformers needs transformers 5.23 or later: pip install transformers") from None

from modewise.transformers.attention import forward, mask, on_registration, prepare, summary_queries
from modewise.transformers.cache import LayerCache, ModewiseCache
from modewise.transformers.model import ModewiseConfig, ModewiseForCausalLM
from modewise.transformers.options import FAMILIES, NAME, configure

transformers.AttentionInterface.register(NAME, forward)
transformers.AttentionMaskInterface.register(NAME, mask)
transformers.AutoConfig.register("modewise", ModewiseConfig)
transformers.AutoModelForCausalLM.register(ModewiseConfig, ModewiseForCausalLM)
torch.nn.modules.module.register_module_module_registration_hook(on_registration)

__all__ = ["FAMILIES", "NAME", "LayerCache", "ModewiseCache", "ModewiseConfig", "ModewiseForCausalLM", "configure", "prepare",
           "summary_queries"]  # fmt: skip
