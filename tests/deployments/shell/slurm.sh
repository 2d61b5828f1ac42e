#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:4 --time=4:00:00
module load cuda/12.4
source /opt/venvs/vllm/bin/activate
srun --gpus=4 apptainer exec --nv vllm.sif vllm serve mistralai/Mixtral-8x7B-Instruct-v0.1 --tensor-parallel-size 4 --max-model-len 32768 --enforce-eager
uv run vllm serve Qwen/Qwen3-8B --max-model-len 8K &

