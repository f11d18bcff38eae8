"""modewise's exactly causal attention in models of the library transformers.

Importing this registers `attn_implementation="modewise_causal"` for decoders of Llama's kind, and the architecture
`ModewiseForCausalLM` of the program's exports:

    import modewise.transformers
    model = AutoModelForCausalLM.from_pretrained(FOLDER)                     # a run's model/, or what was saved here
    model = modewise.transformers.prepare(LLAMA, fold=[0, 8, 8], slots=2)    # a model that is there
    config = modewise.transformers.configure(CONFIG, fold=[0, 8, 8])         # one that is to be made

Queries and keys of a block's summary turn by the block's place among its siblings, not by their token's: the library's
own rotary codes are therefore set to no turn while this attention acts, and the operator turns both levels itself.
"""

import torch

try:
    import transformers
except ImportError:
    raise ImportError("modewise.transformers needs transformers 5.23 or later: pip install transformers") from None

from modewise.transformers.attention import forward, mask, on_registration, prepare
from modewise.transformers.cache import LayerCache, ModewiseCache
from modewise.transformers.model import ModewiseConfig, ModewiseForCausalLM
from modewise.transformers.options import FAMILIES, NAME, configure

transformers.AttentionInterface.register(NAME, forward)
transformers.AttentionMaskInterface.register(NAME, mask)
transformers.AutoConfig.register("modewise", ModewiseConfig)
transformers.AutoModelForCausalLM.register(ModewiseConfig, ModewiseForCausalLM)
torch.nn.modules.module.register_module_module_registration_hook(on_registration)

__all__ = ["FAMILIES", "NAME", "LayerCache", "ModewiseCache", "ModewiseConfig", "ModewiseForCausalLM", "configure", "prepare"]
