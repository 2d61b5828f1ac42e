#include <array>
#include <span>
#include <string_view>

#include "cli/flags.h"

namespace kvfit::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{.name = "plan",
         .summary = "does it run, with what context, and what must be given up",
         .about = "Computes the engine's memory to the byte and finds the largest expert count, context and number of "
                  "sequences that start and stay up. Needs no GPU and downloads nothing.",
         .examples = "kvfit plan --gpu rtx5090-24g\n"
                     "kvfit plan --gpu h100-sxm --gpus 2 --tp 2 --model ./my-checkpoint\n"
                     "kvfit plan --gpu rtx5090-24g --max-model-len 32K --format json -o plan.json"},
    Verb{
        .name = "check",
        .words = "[FILE|DIRECTORY...] [-- vllm serve ...]",
        .summary = "do these deployments start and stay up? the gate for CI",
        .about =
            "Reads deployments as they stand: a vllm serve command line after --, vLLM --config files, docker compose, "
            "Kubernetes (Deployment, StatefulSet, LeaderWorkerSet, KServe, Ray), systemd units, quadlets, shell scripts and "
            "saved plans; - reads stdin, a directory is searched. Model, release and GPU come from the deployment where it "
            "says them, else from kvfit.yaml; a flag beats both, and a note says so. Findings have an id, a place and a "
            "remedy: kvfit explain KVF001. "
            "Without a deployment the flags themselves are checked.",
        .examples = "kvfit check --gpu rtx5090-32g deploy/\n"
                    "kvfit check --gpu h100-sxm -- vllm serve Qwen/Qwen3-8B --max-model-len 32K\n"
                    "kvfit check --gpu l4 compose.yaml --format github -o sarif=kvfit.sarif"},
    Verb{.name = "emit",
         .words = "[FILE] [-- vllm serve ...]",
         .summary = "a plan or deployment as a serving file: compose, Kubernetes ...",
         .about = "Plans as `kvfit plan` does, or reads a deployment or saved plan as `kvfit check` does, and writes what "
                  "starts exactly that: the engine's version pinned, every flag stated, probes sized from the time a start "
                  "takes. The header says verdict, headroom and how to write the file again. What does not run is not "
                  "written (exit 1, or 3 when refused), unless --force is given: then it is, with the same exit code.",
         .examples = "kvfit emit --gpu rtx5090-24g\n"
                     "kvfit emit --to compose --gpu l4 --model qwen3-8b -o compose.yaml\n"
                     "kvfit emit --to kubernetes --gpu l4 compose.yaml"},
    Verb{.name = "diff",
         .words = "BEFORE AFTER",
         .summary = "two plans or deployments: what changed in bytes and verdict",
         .about =
             "Takes saved plans (`kvfit plan --format json`; - is stdin) or files with one deployment each (--only names "
             "one of several), which are planned first. Exit 0 when nothing differs, 1 when something does. The markdown "
             "form is made for a pull "
             "request.",
         .examples = "kvfit diff old.json new.json\n"
                     "kvfit diff --gpu l4 old.yaml new.yaml --format markdown -o comment.md"},
    Verb{.name = "explain",
         .words = "[KEY...]",
         .summary = "every number of a plan: formula, inputs, source",
         .about = "Takes the flags of `kvfit plan`. Without KEY lists all keys of that plan; with KEYs prints the formula, "
                  "the inputs, the worked arithmetic and the source of each. KVF001 and the like, without --gpu, print what "
                  "the finding means.",
         .examples = "kvfit explain --gpu rtx5090-24g\n"
                     "kvfit explain --gpu rtx5090-24g kv.num_gpu_blocks\n"
                     "kvfit explain KVF004"},
    Verb{
        .name = "calibrate",
        .words = "LOG...",
        .summary = "a boot log against its plan, line by line",
        .about =
            "Reads what vLLM printed while starting (any version from 0.6, with container prefixes, colours, JSON lines), "
            "plans "
            "the same configuration and compares. Names the first line that disagrees and the likely cause. GPU, model, "
            "version and settings come from the log where it states them; what it does not state is said, and a utilisation "
            "that was assumed is solved for. A file with several starts is compared start by start; of SGLang and llama.cpp "
            "the weights and the size of the KV cache are. - reads stdin. Exit 0 when every line agrees within its bar, 1 "
            "when "
            "one is off, 2 when a log cannot be used, 4 when corrections cannot be kept.",
        .examples = "kvfit calibrate boot.log\n"
                    "kvfit calibrate --gpu rtx5090-32g boot.log\n"
                    "docker logs vllm 2>&1 | kvfit calibrate --keep -"},
    Verb{.name = "carve",
         .words = "inspect SRC | plan SRC | run SRC DST | verify [SRC] DST |\n"
                  "                   compare SRC | job SRC DST | merge | launch",
         .summary = "a smaller checkpoint: experts out, every kept byte unchanged",
         .about =
             "Keeps the best-scored experts of every mixture-of-experts block, trunk and draft head alike, and writes a "
             "checkpoint that engines load as it is. Nothing is requantised. `run` works in DST.kvfit-tmp and can be "
             "stopped and taken up again; a finished DST is never overwritten. `job` cuts a carve into parts that "
             "write side by side (`run --job`), `launch` prints what starts them, `merge` publishes. `verify` "
             "compares with the source or, where that is gone, tensors with their hashes (`verify DST`).",
         .examples = "kvfit carve inspect ./model\n"
                     "kvfit carve plan ./model --keep 128\n"
                     "kvfit carve run ./model ./model-192e --keep 192"},
    Verb{.name = "boot",
         .words = "[PLAN.json] [-- COMMAND...]",
         .summary = "prove a plan on the GPU of this machine",
         .about =
             "Allocates what the plan's ledger says, entry by entry, writes every page by a kernel, reads it back, holds "
             "it and releases it: no engine is needed. Takes a plan saved by `kvfit plan --format json`, or the flags of "
             "`kvfit plan` (--gpu auto when none is given). With --engine it starts the engine instead, in a process "
             "group of its own that is always ended, follows its log, waits for /health and compares what it prints "
             "with the plan; COMMAND stands in for the plan's serve line. The CUDA driver is opened as the loader finds "
             "it: LD_LIBRARY_PATH, then the system's directories, then WSL's.",
         .examples = "kvfit boot\n"
                     "kvfit boot plan.json --hold 10 --save measured.json\n"
                     "kvfit boot --model ./my-192e --checkpoint ./my-192e\n"
                     "kvfit boot plan.json --engine vllm --long-prompt"},
    Verb{.name = "gpus",
         .words = "[list [WORD...] | show ID | detect | lint [FILE...]]",
         .summary = "the GPUs kvfit knows: list, show, detect, check profiles",
         .about = "Every value carries its source. `detect` says which GPUs are in this machine (NVML and the CUDA driver, "
                  "else nvidia-smi) or in one elsewhere (--nvidia-smi FILE), which profile each has, and what differs from "
                  "it; it takes nothing from the GPU. `lint` reads every profile, or the files named, and reports what is "
                  "wrong with each.",
         .examples = "kvfit gpus\n"
                     "kvfit gpus detect\n"
                     "nvidia-smi --format=csv --query-gpu=uuid,pci.bus_id,name,compute_cap,\\\n"
                     "memory.total,memory.used,driver_version,mig.mode.current >there.csv\n"
                     "kvfit gpus detect --nvidia-smi there.csv\n"
                     "kvfit gpus show rtx5090-24g\n"
                     "kvfit gpus lint my-gpu.yaml"},
    Verb{.name = "models",
         .words = "[list [WORD...] | show ID | inspect PATH | lint [FILE...]]",
         .summary = "the models kvfit knows: list, show one, look into a checkpoint",
         .about = "`show` and `inspect` take a catalogue id, a Hugging Face id that is in the catalogue or the local cache, "
                  "a directory, a config.json or a YAML spec. `inspect` reads safetensors headers only, never weights.",
         .examples = "kvfit models\n"
                     "kvfit models show qwen3.6-35b-a3b-nvfp4-unsloth\n"
                     "kvfit models inspect ./my-checkpoint"},
    Verb{.name = "schema",
         .words = "[plan | check | boot | diff | calibrate]",
         .summary = "JSON Schema of the machine output",
         .about = "Prints the JSON Schema (2020-12) of what that verb writes with --format json. A new minor format_version "
                  "only adds keys; "
                  "a new major one may change them.",
         .examples = "kvfit schema plan > kvfit-plan.schema.json"},
    Verb{.name = "config",
         .words = "show",
         .summary = "what kvfit.yaml and kvfit itself say where flags do not",
         .about = "The nearest kvfit.yaml upward from the working directory holds (--config FILE names one, none leaves it "
                  "out); flags beat it. --origin adds the file and line of each value.",
         .examples = "kvfit config show --origin"},
    Verb{.name = "completions",
         .words = "bash | zsh | fish",
         .summary = "a script that completes kvfit's command line",
         .about = "Commands, flags and their values, GPUs and models as the catalogue (and --profiles) have them.",
         .examples = "kvfit completions bash > ~/.local/share/bash-completion/completions/kvfit\n"
                     "kvfit completions fish > ~/.config/fish/completions/kvfit.fish"},
    Verb{.name = "man",
         .words = "[VERB]",
         .summary = "a manual page, as roff",
         .about = "",
         .examples = "kvfit man > kvfit.1\n"
                     "kvfit man plan > kvfit-plan.1"},
    Verb{.name = "help", .words = "[VERB]", .summary = "help on a verb", .about = "", .examples = "kvfit help plan"},
    Verb{.name = "version", .summary = "version of kvfit", .about = "", .examples = "kvfit version"},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

}  // namespace kvfit::cli
