"""modewise's causal summary attention in a Llama of the library transformers: training, saving, generating."""

import tempfile

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

import modewise.transformers

torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                     max_position_embeddings=96, bos_token_id=None, eos_token_id=None)  # fmt: skip
modewise.transformers.configure(config, fold=[0, 4, 4], summary_tokens=2)  # two summary tokens per block of 16 tokens
model = AutoModelForCausalLM.from_config(config)
print([name for name, _ in model.named_parameters() if "latents" in name])

text = torch.arange(96).remainder(24)[None]  # 0, 1, … 23, 0, 1, …
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(60):
    model(text, labels=text).loss.backward()
    optimizer.step()
    optimizer.zero_grad()

with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = AutoModelForCausalLM.from_pretrained(folder)
out = again.generate(text[:, :40], max_new_tokens=12, do_sample=False, return_dict_in_generate=True)
print(out.sequences[0, 40:].tolist())
every_token = 2 * 2 * 51 * 32 * 4  # layers, keys and values, tokens, width, bytes
print("the cache is smaller than one of every token:", sum(layer.bytes for layer in out.past_key_values.layers) < every_token)
