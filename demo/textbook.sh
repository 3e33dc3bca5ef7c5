#!/bin/bash
#SBATCH --job-name=gpt-pretrain
#SBATCH --partition=training        # which pool of nodes to draw from
#SBATCH --nodes=8                    # 8 machines, all granted together (gang)
#SBATCH --gpus-per-node=8           # 64 GPUs total
#SBATCH --ntasks-per-node=8         # one task (rank) per GPU
#SBATCH --time=12:00:00             # walltime cap; lets backfill plan around us
#SBATCH --exclusive                 # no other job shares these nodes

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
export MASTER_PORT=29500

# srun launches all 64 ranks at once; the allocation is all-or-nothing.
srun python -u train.py --config configs/gpt_64gpu.yaml
