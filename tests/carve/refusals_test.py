#!/usr/bin/env python3
"""Everything a carve refuses, by the whole text of what it says: `refusals_test.py KVFIT`; KVFIT_UPDATE_GOLDEN=1 rewrites refusals.txt.

Each case spoils a small checkpoint, its config, its destination or the command. kvfit must exit with the code that stands before the
text, write nothing, leave nothing behind, and leave the source as it was.
"""

import difflib
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

import make_checkpoint
from harness import KVFIT

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.txt")
CASES = {}


def case(what, **options):
    """Adds a function(source, place) that spoils a checkpoint made with `options` and may return other words for the command."""
    def add(function):
        CASES[what] = (function, options)
        return function
    return add


def path_of(source, name="model.safetensors"):
    return os.path.join(source, name)


def read(path):
    with open(path, "rb") as handle:
        return handle.read()


def write(path, data):
    with open(path, "wb") as handle:
        handle.write(data if isinstance(data, bytes) else data.encode())


def header(source, change):
    """Rewrites the header of a one-file checkpoint by change(dict); the data stays."""
    blob = read(path_of(source))
    (length,) = struct.unpack("<Q", blob[:8])
    entries = json.loads(blob[8:8 + length])
    changed = change(entries)
    text = changed if isinstance(changed, bytes) else json.dumps(changed or entries, separators=(",", ":")).encode()
    write(path_of(source), struct.pack("<Q", len(text)) + text + blob[8 + length:])


def tensors(source, change, config=None):
    """Writes the checkpoint anew after change(Maker), and the text part of its config after config(dict)."""
    blob = read(path_of(source))
    (length,) = struct.unpack("<Q", blob[:8])
    maker = make_checkpoint.Maker(1)
    for name, entry in json.loads(blob[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            maker.add(name, entry["dtype"], entry["shape"], blob[8 + length + begin:8 + length + end])
    change(maker)
    make_checkpoint.write_shard(path_of(source), maker.tensors)
    if config:
        configure(source, config)


def configure(source, change):
    path = path_of(source, "config.json")
    config = json.loads(read(path))
    change(config)
    write(path, json.dumps(config, indent=2))


def index(source, change):
    path = path_of(source, "model.safetensors.index.json")
    value = json.loads(read(path))
    change(value)
    write(path, json.dumps(value))


LAYER = "model.language_model.layers.0.mlp"
EXPERT = f"{LAYER}.experts.3.up_proj"


# ---- files that are no safetensors ----------------------------------------------------------------------------------------

@case("a file too short for a header's length")
def _(source, place):
    write(path_of(source), b"\1\2\3")


@case("a header of 100,000,001 bytes")
def _(source, place):
    write(path_of(source), struct.pack("<Q", 100_000_001) + b"{" + b" " * 64)


@case("a header longer than its file")
def _(source, place):
    write(path_of(source), struct.pack("<Q", 4096) + b"{}")


@case("a header that is not UTF-8")
def _(source, place):
    header(source, lambda _: b'{"\xff":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}')


@case("a header that is no JSON")
def _(source, place):
    header(source, lambda _: b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}')


@case("a header that begins with a blank")
def _(source, place):
    header(source, lambda entries: b" " + json.dumps(entries).encode())


@case("a name that stands twice in a header")
def _(source, place):
    header(source, lambda entries: json.dumps(entries).encode()[:-1] + b', "lm_head.weight": {"dtype":"U8","shape":[0],"data_offsets":[0,0]}}')


@case("a hole between tensors")
def _(source, place):
    def drop(entries):
        del entries[f"{EXPERT}.weight_scale_2"]
    header(source, drop)


@case("tensors that overlap")
def _(source, place):
    def shift(entries):
        begin, end = entries[f"{EXPERT}.weight"]["data_offsets"]
        entries[f"{EXPERT}.weight"]["data_offsets"] = [begin - 16, end]
    header(source, shift)


@case("a shape that is not the data's")
def _(source, place):
    def shape(entries):
        entries[f"{EXPERT}.weight"]["shape"][0] += 1
    header(source, shape)


@case("a shape whose product wraps")
def _(source, place):
    def shape(entries):
        entries[f"{EXPERT}.weight"]["shape"] = [1 << 62, 1 << 62]
    header(source, shape)


@case("a byte after the data")
def _(source, place):
    write(path_of(source), read(path_of(source)) + b"\0")


@case("a download that was cut short")
def _(source, place):
    write(path_of(source), read(path_of(source))[:-1])


@case("weights that are a directory")
def _(source, place):
    os.remove(path_of(source))
    os.mkdir(path_of(source))


# ---- files that do not belong together ------------------------------------------------------------------------------------

@case("a tensor in two files", shards=2)
def _(source, place):
    name = path_of(source, "model-00002-of-00002.safetensors")
    write(path_of(source, "model-00001-of-00002.safetensors"), read(name))


@case("one file of several", shards=2)
def _(source, place):
    return ["--keep", "8", "--from", path_of(source, "model-00001-of-00002.safetensors")]


@case("an index that names a tensor of no file", shards=2)
def _(source, place):
    index(source, lambda value: value["weight_map"].update({"mtp.fc.weight": "model-00002-of-00002.safetensors"}))


@case("an index that names a file that is not there", shards=2)
def _(source, place):
    index(source, lambda value: value["weight_map"].update({"mtp.fc.weight": "mtp.safetensors"}))


@case("an index that leaves the directory", shards=2)
def _(source, place):
    index(source, lambda value: value["weight_map"].update({"lm_head.weight": "../outside.safetensors"}))


@case("an index that names a file by its root", shards=2)
def _(source, place):
    index(source, lambda value: value["weight_map"].update({"lm_head.weight": "/etc/passwd"}))


@case("an index with a NUL in a file's name", shards=2)
def _(source, place):
    index(source, lambda value: value["weight_map"].update({"lm_head.weight": "model\0.safetensors"}))


@case("an index that is no JSON", shards=2)
def _(source, place):
    write(path_of(source, "model.safetensors.index.json"), "{")


@case("a file with experts that the index does not name", mtp="orphan", shards=2)
def _(source, place):
    pass


@case("no config")
def _(source, place):
    os.remove(path_of(source, "config.json"))


@case("a config with a key twice")
def _(source, place):
    write(path_of(source, "config.json"), '{"num_experts": 16, "num_experts": 8}')


@case("a config of another count")
def _(source, place):
    configure(source, lambda config: config["text_config"].update(num_experts=32))


@case("a config that states two counts")
def _(source, place):
    configure(source, lambda config: config["text_config"].update(num_local_experts=8))


@case("a config that states no count")
def _(source, place):
    configure(source, lambda config: config["text_config"].pop("num_experts"))


@case("a config with a count for each part of the model")
def _(source, place):
    configure(source, lambda config: config["text_config"].update(moe_num_experts=[16, 16]))


@case("a config with counts layer by layer")
def _(source, place):
    configure(source, lambda config: config.update(block_configs=[{"num_experts": 16}]))


@case("a pattern that names an expert")
def _(source, place):
    configure(source, lambda config: config.update(quantization_config={"ignore": ["re:.*experts\\.3\\..*"]}))


# ---- tensors that are not understood ----------------------------------------------------------------------------------------

@case("no experts at all")
def _(source, place):
    def only(maker):
        maker.tensors = {n: t for n, t in maker.tensors.items() if ".mlp." not in n}
    tensors(source, only)


@case("an unknown tensor among experts")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.experts.weird", "BF16", [16]))


@case("an unknown tensor as wide as there are experts")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.mystery.weight", "BF16", [16, 8]))


@case("many unknown tensors")
def _(source, place):
    def many(maker):
        for n in range(30):
            maker.add(f"{LAYER}.experts.weird{n}", "BF16", [16])
    tensors(source, many)


@case("an expert without one of its tensors")
def _(source, place):
    tensors(source, lambda maker: maker.tensors.pop(f"{EXPERT}.weight_scale"))


@case("an expert of another shape")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{EXPERT}.weight", "U8", [16, 64]))


@case("a block without a router")
def _(source, place):
    tensors(source, lambda maker: maker.tensors.pop(f"{LAYER}.gate.weight"))


@case("a router of another count")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.weight", "BF16", [15, 64]))


@case("two routers in a block")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.router.weight", "BF16", [16, 64]))


@case("a router quantised in blocks that span experts")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.weight_scale_inv", "F32", [1, 4]))


@case("blocks of different counts")
def _(source, place):
    def fewer(maker):
        block = "model.language_model.layers.1.mlp"
        maker.tensors = {n: t for n, t in maker.tensors.items() if not any(n.startswith(f"{block}.experts.{e}.") for e in range(8, 16))}
        maker.add(f"{block}.gate.weight", "BF16", [8, 64])
    tensors(source, fewer)


@case("experts one by one and stacked in one block")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.experts.gate_up_proj", "BF16", [16, 4, 4]))


@case("elements that cannot be cut between experts", layout="fused", format="bf16")
def _(source, place):
    blob = read(path_of(source))
    (length,) = struct.unpack("<Q", blob[:8])
    entries = json.loads(blob[8:8 + length])
    end = max(e["data_offsets"][1] for n, e in entries.items() if n != "__metadata__")
    entries[f"{LAYER}.experts.up_proj_scale"] = {"dtype": "F4", "shape": [16, 3, 1], "data_offsets": [end, end + 24]}
    text = json.dumps(entries).encode()
    write(path_of(source), struct.pack("<Q", len(text)) + text + blob[8 + length:] + b"\0" * 24)


@case("a table of token to expert")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.tid2eid", "I64", [4, 2], struct.pack("<8q", *range(8))))


@case("a table that names an expert that is not there")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.tid2eid", "I64", [4, 2], struct.pack("<8q", *range(9, 17))))
    return ["--hash-remap", "nearest"]


@case("one rank's slices")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.experts.0.up_proj.rank0.trellis", "I16", [4, 4, 48]))


@case("a manifest of hashes")
def _(source, place):
    write(path_of(source, "EXL3_MANIFEST.json"), "{}")


# ---- counts -------------------------------------------------------------------------------------------------------------------

@case("more than there are")
def _(source, place):
    return ["--keep", "20"]


@case("as many as the router picks")
def _(source, place):
    return ["--keep", "2"]


@case("no multiple of four")
def _(source, place):
    return ["--keep", "6"]


@case("groups that do not divide", groups=8)
def _(source, place):
    return ["--keep", "12"]


@case("one expert a group", groups=8, top_k=2)
def _(source, place):
    return ["--keep", "8"]


@case("fewer in the groups a token may use than the router picks", groups=4, top_k=6)
def _(source, place):
    configure(source, lambda config: config["text_config"].update(topk_group=2))
    return ["--keep", "8"]


@case("ranks that do not divide")
def _(source, place):
    return ["--keep", "8", "--ep-size", "3"]


@case("a size that no count fits")
def _(source, place):
    return ["--fit", "1KiB"]


@case("an expert both protected and dropped")
def _(source, place):
    return ["--keep", "8", "--protect", "3", "--drop", "3"]


@case("more protected than stay")
def _(source, place):
    return ["--keep", "8", "--protect", "0,1,2,3,4,5,6,7,8"]


@case("a protected expert that is not there")
def _(source, place):
    return ["--keep", "8", "--protect", "16"]


@case("protected experts of a block that is not there")
def _(source, place):
    path = os.path.join(place, "protect.json")
    write(path, json.dumps({"model.layers.9.mlp": [1]}))
    return ["--keep", "8", "--protect", path]


# ---- scores ---------------------------------------------------------------------------------------------------------------------

@case("a scale that is not a number")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{EXPERT}.weight_scale", "F8_E4M3", [32, 4], b"\x7f" * 128))


@case("experts that all score the same")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.weight", "BF16", [16, 64], b"\x80\x3f" * 1024))
    return ["--keep", "8", "--score", "router-norm"]


@case("a router of infinities")
def _(source, place):
    tensors(source, lambda maker: maker.add(f"{LAYER}.gate.weight", "BF16", [16, 64], b"\x80\x7f" * 1024))


@case("nothing to score by", format="exl3")
def _(source, place):
    pass


@case("no score corrections")
def _(source, place):
    return ["--keep", "8", "--score", "bias"]


@case("no table to count in")
def _(source, place):
    return ["--keep", "8", "--score", "hash-freq"]


@case("weights that the score cannot read", format="gptq")
def _(source, place):
    return ["--keep", "8", "--score", "aimer"]


def scores(name, content, *flags):
    def spoil(source, place):
        path = os.path.join(place, "scores")
        write(path, content if isinstance(content, (bytes, str)) else json.dumps(content))
        return ["--keep", "8", "--score-file", path, *flags]
    CASES[name] = (spoil, {})


RISING = [float(e) for e in range(16)]
OWN = "kvfit.expert_scores/1"
ROWS = "layer,expert_id,aimer_score,calib_free_score,is_pruned\r\n"
scores("a pickle of scores", b"PK\3\4")
scores("scores of another format", {"format": "other/1", "layers": {}})
scores("scores of a layer that is not there", {"format": OWN, "layers": {"7": RISING}})
scores("too few scores", {"format": OWN, "layers": {"0": RISING[:4]}})
scores("no scores for a block", {"format": OWN, "layers": {"0": RISING}})
scores("a kept expert that is not there", {LAYER: [16]})
scores("a score file that is no JSON", "scores: none")
scores("a table without scores", "layer,expert_id\n0,0\n")
scores("a table with a word for a number", ROWS + "0,0,0.5,high,0\n")
scores("a table with an expert twice", ROWS + "0,0,1,1,0\n0,0,1,1,0\n")
scores("a table with a short row", ROWS + "0,0,1\n")
scores("a table without an expert", ROWS + "".join(f"0,{e},1,{e},0\n" for e in range(15)))
scores("a table with an expert that is not there", ROWS + "0,16,1,1,0\n")
scores("an imatrix that is cut short", b"GGUF" + struct.pack("<IQQ", 3, 5, 0))
scores("an imatrix of another version", b"GGUF" + struct.pack("<IQQ", 9, 0, 0))
scores("an imatrix without counts", b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
CASES["a file's scores without a file"] = (lambda source, place: ["--keep", "8", "--score", "file"], {})
CASES["two scores without a way to combine"] = (lambda source, place: ["--keep", "8", "--score", "kirigami,frob"], {})
CASES["one score to combine"] = (lambda source, place: ["--keep", "8", "--combine", "rank-sum"], {})


# ---- places ----------------------------------------------------------------------------------------------------------------------

@case("a destination that exists")
def _(source, place):
    os.mkdir(os.path.join(place, "ours"))


@case("a destination that is a link")
def _(source, place):
    os.symlink("/tmp", os.path.join(place, "ours"))


@case("a destination inside the source")
def _(source, place):
    return ["--keep", "8", "--to", os.path.join(source, "ours")]


@case("a destination inside the source, by a link")
def _(source, place):
    os.symlink(source, os.path.join(place, "link"))
    return ["--keep", "8", "--to", os.path.join(place, "link", "ours")]


@case("a destination inside the source, by dots")
def _(source, place):
    return ["--keep", "8", "--to", os.path.join(place, "elsewhere", "..", "source", "ours")]


@case("a source inside the destination")
def _(source, place):
    return ["--keep", "8", "--to", place]


@case("a destination without a parent")
def _(source, place):
    return ["--keep", "8", "--to", os.path.join(place, "no", "ours")]


@case("a working directory that is a link")
def _(source, place):
    os.mkdir(os.path.join(place, "elsewhere"))
    os.symlink("elsewhere", os.path.join(place, "ours.kvfit-tmp"))


@case("a working directory that is a file")
def _(source, place):
    write(os.path.join(place, "ours.kvfit-tmp"), "")


@case("sharing where it must and cannot be")
def _(source, place):
    other = "/dev/shm" if os.path.isdir("/dev/shm") else None  # tmpfs shares nothing
    if not other:
        return None
    return ["--keep", "8", "--reflink", "always", "--to", tempfile.mkdtemp(dir=other) + "/ours"]


# ---- running them ----------------------------------------------------------------------------------------------------------------

def listing(directory):
    out = {}
    for folder, folders, files in os.walk(directory):
        for name in folders:
            out[os.path.join(folder, name)] = "directory"
        for name in files:
            path = os.path.join(folder, name)
            out[path] = os.readlink(path) if os.path.islink(path) else hashlib.sha256(read(path)).hexdigest()
    return out


def outcome(spoil, options):
    """(text for the golden file, what is wrong beside it)."""
    with tempfile.TemporaryDirectory() as place:
        place = os.path.realpath(place)
        source, ours = os.path.join(place, "source"), os.path.join(place, "ours")
        make_checkpoint.write_checkpoint(make_checkpoint.options(**options), source)
        flags = spoil(source, place) or ["--keep", "8"]
        if not any(f in ("--keep", "--fit") for f in flags):
            flags = ["--keep", "8", *flags]
        shared = None
        given = source
        if "--from" in flags:
            at = flags.index("--from")
            given = flags[at + 1]
            flags = flags[:at] + flags[at + 2:]
        if "--to" in flags:
            at = flags.index("--to")
            ours = flags[at + 1]
            flags = flags[:at] + flags[at + 2:]
            shared = os.path.dirname(ours) if not ours.startswith(place) else None
        before = listing(place)
        done = subprocess.run([KVFIT, "carve", "run", given, ours, "-q", *flags], capture_output=True, text=True, timeout=120)
        wrong = [] if listing(place) == before else ["something changed on disk"]
        if shared:
            wrong += ["something was left behind"] if os.listdir(shared) else []
            os.rmdir(shared)
        if done.stdout:
            wrong.append(f"it prints {done.stdout}")
        text = done.stderr.replace(shared, "<shared>") if shared else done.stderr
        return f"exit {done.returncode}\n{text.replace(place, '<place>')}", wrong


def main():
    seen, wrong = "", []
    for what, (spoil, options) in CASES.items():
        text, beside = outcome(spoil, options)
        seen += f"## {what}\n{text}\n"
        wrong += [f"{what}: {line}" for line in beside]
    if os.environ.get("KVFIT_UPDATE_GOLDEN"):
        write(GOLDEN, seen)
    golden = read(GOLDEN).decode()
    wrong += difflib.unified_diff(golden.splitlines(), seen.splitlines(), "expected", "seen", lineterm="")
    print("\n".join(wrong) if wrong else f"{len(CASES)} refusals hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
