"""Decoders of equal size for the language model benchmarks: transformers' Llama, and modewise's with an attention type."""

FOLD = [0, 32, 32]


def llama(sizes, **options):
    """Llama with SDPA and random weights. `sizes`: width, layers, heads, hidden, vocabulary."""
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=sizes["vocabulary"], hidden_size=sizes["width"], intermediate_size=sizes["hidden"],
        num_hidden_layers=sizes["layers"], num_attention_heads=sizes["heads"], num_key_value_heads=sizes["heads"],
        tie_word_embeddings=True, **options)  # fmt: skip
    return transformers.LlamaForCausalLM._from_config(config, attn_implementation="sdpa")


def modewise(sizes, attention_type, context):
    """`attention_type`: full, or summary with FOLD, one summary token per block and a window of 64."""
    from modewise.models.language import LanguageModel

    attention = {"type": attention_type, "fold": FOLD if attention_type == "summary" else [], "window": 64, "sinks": 0, "density": 0.1,
                 "summary_tokens": 1, "latent_std": 0.02}  # fmt: skip
    rope = {"base": 10000.0, "scaling": "none", "factor": 1.0, "scaled_level": -1}
    return LanguageModel({
        **sizes, "kv_heads": sizes["heads"], "head_width": sizes["width"] // sizes["heads"], "context": context, "norm_epsilon": 1e-6,
        "dropout": 0.0, "init_std": 0.02, "tied": True, "precision": "float32", "attention": attention, "rope": rope})  # fmt: skip
