#!/usr/bin/env python3
"""Checkpoints on disk, made here: exact bytes, headers that deny the config, damaged files. `checkpoint_test.py KVFIT`."""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KVFIT = str(Path(sys.argv[1]).resolve())
HIDDEN, LAYERS, HEADS, KV_HEADS, WIDE, VOCAB = 2048, 4, 16, 4, 4096, 32000
CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "intermediate_size": WIDE, "vocab_size": VOCAB,
    "max_position_embeddings": 8192, "torch_dtype": "bfloat16", "tie_word_embeddings": False,
}


def shapes():
    kv = HIDDEN * KV_HEADS // HEADS
    out = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN], "lm_head.weight": [VOCAB, HIDDEN]}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        out |= {prefix + "input_layernorm.weight": [HIDDEN], prefix + "post_attention_layernorm.weight": [HIDDEN]}
        for name, rows in (("q", HIDDEN), ("k", kv), ("v", kv), ("o", HIDDEN)):
            out[prefix + f"self_attn.{name}_proj.weight"] = [rows, HIDDEN]
        for name, shape in (("gate", [WIDE, HIDDEN]), ("up", [WIDE, HIDDEN]), ("down", [HIDDEN, WIDE])):
            out[prefix + f"mlp.{name}_proj.weight"] = shape
    return out


def write_checkpoint(folder, tensors):
    """Header and a hole of the right size: kvfit reads headers only. Returns the bytes of the tensors."""
    header, end = {}, 0
    for name, shape in tensors.items():
        size = 2
        for n in shape:
            size *= n
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with open(Path(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    Path(folder, "config.json").write_text(json.dumps(CONFIG))
    return end


def kvfit(*words):
    return subprocess.run([KVFIT, *words], capture_output=True, text=True)


class Checkpoints(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def test_bytes_are_those_of_the_headers(self):
        # by hand: 2 x 32000 x 2048 + 2048 + 4 x (2 x 2048 + 2 x 2048^2 + 2 x 512 x 2048 + 3 x 4096 x 2048) elements of 2 bytes
        size = write_checkpoint(self.folder, shapes())
        self.assertEqual(size, 2 * (2 * 32000 * 2048 + 2048 + 4 * (4096 + 2 * 2048**2 + 2 * 512 * 2048 + 3 * 4096 * 2048)))
        seen = json.loads(kvfit("models", "inspect", self.folder, "--format", "json").stdout)["result"]
        self.assertTrue(seen["exact"])
        self.assertEqual(seen["checkpoint_bytes"], size)
        self.assertEqual(seen["tensors"], 3 + 9 * LAYERS)
        self.assertEqual(seen["differences"], [])
        self.assertEqual(seen["formats"]["embedding"], ["bf16"])
        plan = json.loads(kvfit("plan", "--gpu", "rtx5090-24g", "--model", self.folder, "-f", "json").stdout)["result"]
        self.assertEqual(plan["verdict"], "fits")
        self.assertEqual(plan["ladder"][0]["checkpoint_bytes"], size)
        self.assertEqual(plan["serve"][:3], ["vllm", "serve", self.folder])
        self.assertFalse([text for text in plan["assumptions"] if "derived" in text])

    def test_lint_is_clean_when_headers_and_config_agree_and_names_what_does_not(self):
        write_checkpoint(self.folder, shapes())
        done = kvfit("models", "lint", self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "1 model checked, 0 at fault\n"))
        tensors = shapes()
        tensors["model.layers.3.mlp.up_proj.weight"] = [WIDE // 2, HIDDEN]
        write_checkpoint(self.folder, tensors)
        done = kvfit("models", "lint", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("headers and config disagree: - model.layers.3.mlp.up_proj.weight BF16 [4096,2048]", done.stdout)
        self.assertIn("headers and config disagree: + model.layers.3.mlp.up_proj.weight BF16 [2048,2048]", done.stdout)
        seen = kvfit("models", "inspect", self.folder).stdout
        self.assertIn("config and headers differ: - model.layers.3.mlp.up_proj.weight BF16 [4096,2048]", seen)
        self.assertIn("config and headers differ: + model.layers.3.mlp.up_proj.weight BF16 [2048,2048]", seen)

    def test_a_plan_says_when_headers_and_config_disagree(self):
        def findings(*words):
            seen = json.loads(kvfit(*words, "--format", "json").stdout)
            return [one for one in seen["findings"] if one["id"] == "KVF034"]

        plan = ("plan", "--gpu", "rtx5090-24g", "--model", self.folder)
        write_checkpoint(self.folder, shapes())
        self.assertEqual(findings(*plan), [])
        lacking = {name: shape for name, shape in shapes().items() if not name.startswith("model.layers.3.")}
        write_checkpoint(self.folder, lacking)
        one = findings(*plan)[0]
        self.assertEqual(one["level"], "warning")
        self.assertTrue(one["text"].startswith("the checkpoint's headers are not what its config implies, it may be incomplete: "
                                               "- model.layers.3."), one["text"])
        checked = kvfit("check", "--gpu", "rtx5090-24g", "--", "vllm", "serve", self.folder)
        self.assertIn("warning KVF034", checked.stdout)
        write_checkpoint(self.folder, {})
        done = kvfit(*plan)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, f"error: the checkpoint holds no tensor\n  --> {self.folder}\n  help: is the download complete?\n")

    def test_a_damaged_header_is_one_clear_error(self):
        write_checkpoint(self.folder, shapes())
        path = Path(self.folder, "model.safetensors")
        path.write_bytes(path.read_bytes()[:100])
        for words in (("plan", "--gpu", "rtx5090-24g", "--model"), ("models", "inspect")):
            done = kvfit(*words, self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)
            self.assertIn("model.safetensors", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
