#!/bin/bash
#SBATCH --partition=gpu
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8

head=$(scontrol show hostnames | head -n1)
srun --ntasks-per-node=1 torchrun --nnodes=4 --nproc-per-node=8 \
  --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d --rdzv-endpoint=$head:29500 train.py
