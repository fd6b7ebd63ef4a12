"""`ray ARGUMENTS...`, for a node that starts on a slow machine."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ray.scripts.scripts import main

from tests.slow_ray import name_ports_of_agents

name_ports_of_agents()
main()
