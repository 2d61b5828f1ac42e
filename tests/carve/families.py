"""Small checkpoints by the names of published families, for families_test.py: what a carve must tell apart, block by block.

Each family is a function that fills a Maker and returns config.json. Widths differ from the expert count unless the point of a case
is that they do not.
"""

from make_checkpoint import linear

EXPERTS, HIDDEN, INNER, TOP_K = 16, 64, 32, 2


def mlp(maker, prefix, form, names, experts=EXPERTS):
    """Experts one by one: `names` are gate, up and down, or up and down."""
    for expert in range(experts):
        level = maker.random.randrange(0x30, 0x70)
        for name in names:
            rows, columns = (HIDDEN, INNER) if name in ("down_proj", "w2") else (INNER, HIDDEN)
            module(maker, f"{prefix}.experts.{expert}.{name}", rows, columns, form, level)


def module(maker, name, rows, columns, form, level):
    """The formats that make_checkpoint does not know."""
    if form == "fp8-tensor":
        maker.add(name + ".weight", "F8_E4M3", [rows, columns])
        maker.add(name + ".weight_scale", "F32", [])
        maker.add(name + ".input_scale", "F32", [])
    elif form == "fp8-channel":
        maker.add(name + ".weight", "F8_E4M3", [rows, columns])
        maker.add(name + ".weight_scale", "BF16", [rows, 1])
    elif form == "awq":
        maker.add(name + ".qweight", "I32", [columns, rows // 8])
        maker.add(name + ".qzeros", "I32", [columns // 32, rows // 8])
        maker.add(name + ".scales", "F16", [columns // 32, rows])
    elif form == "mx":  # DeepSeek-V4: two values a byte, a power of two for each 32
        maker.add(name + ".weight", "U8", [rows, columns // 2])
        maker.add(name + ".scale", "F8_E8M0", [rows, columns // 32])
    elif form == "rank-sliced":
        for rank in range(2):
            maker.add(f"{name}.rank{rank}.trellis", "I16", [columns // 16, rows // 32, 48])
            maker.add(f"{name}.rank{rank}.suh", "F16", [columns])
            maker.add(f"{name}.rank{rank}.svh", "F16", [rows // 2])
    else:
        linear(maker, name, rows, columns, form, level)


def attention(maker, layer):
    maker.add(f"{layer}.input_layernorm.weight", "BF16", [HIDDEN])
    linear(maker, f"{layer}.self_attn.q_proj", HIDDEN, HIDDEN, "bf16", 0)


def shared(maker, block, name="shared_expert"):
    linear(maker, f"{block}.{name}.up_proj", INNER, HIDDEN, "bf16", 0)
    linear(maker, f"{block}.{name}.down_proj", HIDDEN, INNER, "bf16", 0)


GATED, HALVES, MIXTRAL = ("gate_proj", "up_proj", "down_proj"), ("up_proj", "down_proj"), ("w1", "w2", "w3")


def routed(maker, block, form="bf16", names=GATED, router="gate.weight"):
    maker.add(f"{block}.{router}", "BF16", [EXPERTS, HIDDEN])
    mlp(maker, block, form, names)


def counted(key, **more):
    return {"num_hidden_layers": 2, "hidden_size": HIDDEN, key: EXPERTS, "num_experts_per_tok": TOP_K, **more}


def qwen3_moe(maker):
    for n in range(2):
        attention(maker, f"model.layers.{n}")
        routed(maker, f"model.layers.{n}.mlp", "gptq")
    return counted("num_experts", model_type="qwen3_moe", norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[])


def qwen3_next(maker):
    for prefix in ("model.layers.0", "model.layers.1", "mtp.layers.0"):
        attention(maker, prefix)
        routed(maker, f"{prefix}.mlp", "fp8-block")
        shared(maker, f"{prefix}.mlp")
        maker.add(f"{prefix}.mlp.shared_expert_gate.weight", "BF16", [1, HIDDEN])
    return counted("num_experts", model_type="qwen3_next")


def qwen3_vl_moe(maker):
    for n in range(2):
        block = f"model.language_model.layers.{n}.mlp"
        maker.add(f"{block}.gate.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.experts.gate_up_proj", "BF16", [EXPERTS, HIDDEN, 2 * INNER])  # transposed
        maker.add(f"{block}.experts.down_proj", "BF16", [EXPERTS, INNER, HIDDEN])
    maker.add("model.visual.blocks.16.mlp.linear_fc1.weight", "BF16", [EXPERTS, HIDDEN])
    return {"model_type": "qwen3_vl_moe", "text_config": counted("num_experts")}


def mixtral(maker):
    for n in range(2):
        attention(maker, f"model.layers.{n}")
        routed(maker, f"model.layers.{n}.block_sparse_moe", "awq", MIXTRAL)
    return counted("num_local_experts", model_type="mixtral")


def deepseek_v3(maker):
    linear(maker, "model.layers.0.mlp.up_proj", INNER, HIDDEN, "bf16", 0)
    for n in (1, 2):  # 2 is the draft head: num_hidden_layers
        attention(maker, f"model.layers.{n}")
        routed(maker, f"model.layers.{n}.mlp", "fp8-block")
        maker.add(f"model.layers.{n}.mlp.gate.e_score_correction_bias", "F32", [EXPERTS])
        shared(maker, f"model.layers.{n}.mlp", "shared_experts")
    maker.add("model.layers.2.eh_proj.weight", "BF16", [HIDDEN, 2 * HIDDEN])
    return counted("n_routed_experts", model_type="deepseek_v3", n_group=4, topk_group=2, first_k_dense_replace=1,
                   num_nextn_predict_layers=1, routed_scaling_factor=2.5)


def deepseek_v4(maker):
    for n in range(2):
        routed(maker, f"layers.{n}.ffn", "mx", MIXTRAL)
        if n == 0:
            maker.random.seed(5)
            rows = [maker.random.sample(range(EXPERTS), TOP_K) for _ in range(50)]
            maker.add("layers.0.ffn.gate.tid2eid", "I64", [50, TOP_K], b"".join(e.to_bytes(8, "little") for r in rows for e in r))
        else:
            maker.add(f"layers.{n}.ffn.gate.bias", "F32", [EXPERTS])
    routed(maker, "mtp.0.ffn", "mx", MIXTRAL)
    maker.add("mtp.0.ffn.gate.bias", "F32", [EXPERTS])
    return counted("n_routed_experts", model_type="deepseek_v4", num_hash_layers=1, num_nextn_predict_layers=1)


def kimi_k2(maker):
    for n in range(2):
        block = f"language_model.model.layers.{n}.mlp"
        routed(maker, block, "packed")
        maker.add(f"{block}.gate.e_score_correction_bias", "F32", [EXPERTS])
        shared(maker, block, "shared_experts")
    return {"model_type": "kimi_k25", "text_config": counted("n_routed_experts", n_group=1, topk_group=1)}


def glm4_moe(maker):
    for n in range(3):
        routed(maker, f"model.layers.{n}.mlp", "fp8-channel")
        maker.add(f"model.layers.{n}.mlp.gate.e_score_correction_bias", "F32", [EXPERTS])
    return counted("n_routed_experts", model_type="glm4_moe", n_group=1, num_nextn_predict_layers=1)


def gpt_oss(maker):
    for n in range(2):
        block = f"model.layers.{n}.mlp"
        maker.add(f"{block}.router.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.router.bias", "BF16", [EXPERTS])
        for stem, rows, columns in (("gate_up_proj", 2 * INNER, HIDDEN), ("down_proj", HIDDEN, INNER)):
            maker.add(f"{block}.experts.{stem}_blocks", "U8", [EXPERTS, rows, columns // 32, 16])
            scales = bytes(maker.random.randrange(0x70, 0x80) for _ in range(EXPERTS * rows * columns // 32))
            maker.add(f"{block}.experts.{stem}_scales", "U8", [EXPERTS, rows, columns // 32], scales)
            maker.add(f"{block}.experts.{stem}_bias", "BF16", [EXPERTS, rows])
    return counted("num_local_experts", model_type="gpt_oss", experts_per_token=TOP_K)


def llama4(maker):
    for n in range(2):
        block = f"language_model.model.layers.{n}.feed_forward"
        maker.add(f"{block}.router.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.experts.gate_up_proj", "BF16", [EXPERTS, HIDDEN, 2 * INNER])
        maker.add(f"{block}.experts.down_proj", "BF16", [EXPERTS, INNER, HIDDEN])
        shared(maker, block)
    return {"model_type": "llama4", "text_config": {**counted("num_local_experts"), "num_experts_per_tok": 1}}


def olmoe(maker):
    for n in range(2):
        routed(maker, f"model.layers.{n}.mlp")
    return counted("num_experts", model_type="olmoe", norm_topk_prob=False)


def granite(maker):
    for n in range(2):
        block = f"model.layers.{n}.block_sparse_moe"
        maker.add(f"{block}.router.layer.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.input_linear.weight", "BF16", [EXPERTS, 2 * INNER, HIDDEN])
        maker.add(f"{block}.output_linear.weight", "BF16", [EXPERTS, HIDDEN, INNER])
        linear(maker, f"model.layers.{n}.shared_mlp.input_linear", INNER, HIDDEN, "bf16", 0)
    return counted("num_local_experts", model_type="granitemoe")


def minimax_m2(maker):
    for n in range(2):
        routed(maker, f"model.layers.{n}.block_sparse_moe", "fp8-block", MIXTRAL)
        maker.add(f"model.layers.{n}.block_sparse_moe.e_score_correction_bias", "F32", [EXPERTS])
    return counted("num_local_experts", model_type="minimax_m2")


def nemotron_h(maker):
    for prefix, form in (("backbone.layers.1", "nvfp4"), ("backbone.layers.3", "nvfp4"), ("mtp.layers.1", "bf16")):
        block = f"{prefix}.mixer"
        routed(maker, block, form, HALVES)
        maker.add(f"{block}.gate.e_score_correction_bias", "F32", [EXPERTS])
        shared(maker, block, "shared_experts")
        for name in ("fc1_latent_proj", "fc2_latent_proj"):
            maker.add(f"{block}.{name}.weight", "BF16", [EXPERTS, HIDDEN])  # a latent width that happens to be the count
    return counted("n_routed_experts", model_type="nemotron_h", n_group=1, topk_group=1)


def ernie(maker):
    for n in range(2):
        routed(maker, f"model.layers.{n}.mlp")
        maker.add(f"model.layers.{n}.mlp.moe_statics.e_score_correction_bias", "F32", [1, EXPERTS])
    return {"num_hidden_layers": 2, "model_type": "ernie4_5_moe", "moe_num_experts": EXPERTS, "moe_k": TOP_K,
            "moe_capacity": [EXPERTS, EXPERTS, EXPERTS], "moe_layer_start_index": 0}


def gemma4(maker):
    for n in range(2):
        block = f"model.language_model.layers.{n}"
        attention(maker, block)
        maker.add(f"{block}.self_attn.k_proj.weight", "BF16", [EXPERTS, HIDDEN])  # as wide as there are experts
        maker.add(f"{block}.router.proj.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.router.scale", "BF16", [HIDDEN])
        maker.add(f"{block}.router.per_expert_scale", "BF16", [EXPERTS])
        maker.add(f"{block}.experts.gate_up_proj", "BF16", [EXPERTS, 2 * INNER, HIDDEN])
        maker.add(f"{block}.experts.down_proj", "BF16", [EXPERTS, HIDDEN, INNER])
    return {"model_type": "gemma4", "text_config": {"num_hidden_layers": 2, "num_experts": EXPERTS, "top_k_experts": TOP_K}}


def gemma4_packed(maker):
    for n in range(2):
        block = f"model.language_model.layers.{n}"
        maker.add(f"{block}.router.proj.weight", "BF16", [EXPERTS, HIDDEN])
        maker.add(f"{block}.router.per_expert_scale", "BF16", [EXPERTS])
        for stem, rows, columns in (("gate_up_proj", 2 * INNER, HIDDEN), ("down_proj", HIDDEN, INNER)):
            maker.add(f"{block}.experts.{stem}_packed", "U8", [EXPERTS, rows, columns // 2])
            maker.add(f"{block}.experts.{stem}_scale", "F8_E4M3", [EXPERTS, rows, columns // 16])
            maker.add(f"{block}.experts.{stem}_global_scale", "F32", [EXPERTS, 1])
    return {"model_type": "gemma4", "text_config": {"num_hidden_layers": 2, "num_experts": EXPERTS, "top_k_experts": TOP_K}}


def dbrx(maker):
    for n in range(2):
        block = f"transformer.blocks.{n}.ffn"
        maker.add(f"{block}.router.layer.weight", "BF16", [EXPERTS, HIDDEN])
        for name in ("w1", "v1", "w2"):
            maker.add(f"{block}.experts.mlp.{name}", "BF16", [EXPERTS * INNER, HIDDEN])
    return {"model_type": "dbrx", "n_layers": 2, "ffn_config": {"moe_num_experts": EXPERTS, "moe_top_k": TOP_K}}


def mlx(maker):
    for n in range(2):
        block = f"model.layers.{n}.mlp"
        maker.add(f"{block}.gate.weight", "U32", [EXPERTS, HIDDEN // 4])
        maker.add(f"{block}.gate.scales", "BF16", [EXPERTS, HIDDEN // 64])
        maker.add(f"{block}.gate.biases", "BF16", [EXPERTS, HIDDEN // 64])
        for name in GATED:
            maker.add(f"{block}.switch_mlp.{name}.weight", "U32", [EXPERTS, INNER, HIDDEN // 8])
            maker.add(f"{block}.switch_mlp.{name}.scales", "BF16", [EXPERTS, INNER, HIDDEN // 64])
            maker.add(f"{block}.switch_mlp.{name}.biases", "BF16", [EXPERTS, INNER, HIDDEN // 64])
    return counted("num_experts", model_type="qwen3_moe", quantization={"bits": 4, "group_size": 64})


def rank_sliced(maker):
    for n in range(2):
        routed(maker, f"model.layers.{n}.mlp", "rank-sliced")
    return counted("num_experts", model_type="qwen3_moe", quantization_config={"version": "rank-sliced-qwen3-v1"})


def others(maker):
    """Names of single families that share the rest with those above."""
    for n, (router, vector) in enumerate((("router.gate.weight", "expert_bias"), ("gate.weight", "router_bias"),
                                          ("gate.wg.weight", "experts.e_score_correction_bias"))):
        routed(maker, f"model.layers.{n}.feed_forward", "bf16", MIXTRAL, router)
        maker.add(f"model.layers.{n}.feed_forward.{vector}", "F32", [EXPERTS])
    return counted("num_experts", model_type="lfm2_moe")


FAMILIES = [qwen3_moe, qwen3_next, qwen3_vl_moe, mixtral, deepseek_v3, deepseek_v4, kimi_k2, glm4_moe, gpt_oss, llama4, olmoe, granite,
            minimax_m2, nemotron_h, ernie, gemma4, gemma4_packed, dbrx, mlx, rank_sliced, others]
