#!/bin/sh
# kvfit 0.1.0, plan 0123456789abcdef
# verdict: fits
# rank  stage  free
#    0      0  1.25
#    8      1  2.50
#
# On the head node:       HEAD_IP=10.0.0.1 NODE_IP=10.0.0.1 sh FILE head
# On every other node:    HEAD_IP=10.0.0.1 NODE_IP=10.0.0.2 sh FILE worker
# Use a private network: what the nodes send each other is neither encrypted nor checked.
# once on each: pip install vllm==0.24.0 'ray[cgraph]'
set -eu
: "${HEAD_IP:?address of the head node}" "${NODE_IP:?address of this node}"
export VLLM_HOST_IP="$NODE_IP"
case "${1:-}" in
head)
  ray start --head --node-ip-address "$NODE_IP" --port 6379 --num-gpus 8
  waited=0
  until python3 -c 'import ray, sys; ray.init(address="auto", log_to_driver=False); sys.exit(sum(n["Alive"] for n in ray.nodes()) < 2)'; do
    waited=$((waited + 5))
    [ "$waited" -lt 600 ] || { echo 'not all 2 nodes joined within 600 s' >&2; exit 1; }
    sleep 5
  done
  exec vllm serve deepseek-ai/DeepSeek-V3.2 \
    --max-model-len 65536 \
    --tensor-parallel-size 8 \
    --pipeline-parallel-size 2 \
    --hf-overrides '{"a":"$(HOME)"}' \
    --distributed-executor-backend ray \
    --port 9000
  ;;
worker)
  exec ray start --address "$HEAD_IP:6379" --node-ip-address "$NODE_IP" --num-gpus 8 --block
  ;;
*)
  echo 'say head or worker' >&2
  exit 2
  ;;
esac
