"""A script whose rank 0 ends while rank 1 waits for it."""

import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == 0:
    sys.exit(0)
dist.all_reduce(torch.ones(1))
