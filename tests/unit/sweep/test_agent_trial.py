"""A trial's program at an agent."""

import subprocess
import sys

from overtone.program.shared_place import FolderFiles, Inbox, write_json


def test_two_attempts_have_folders_of_their_own_for_checkpoints(tmp_path):
    files = FolderFiles(tmp_path)
    facts = {"trial_id": "t", "experiment": "e", "seed": 1, "trial_dir": ""}
    code = "import os; print('loss=1', os.environ['OVERTONE_CHECKPOINT_DIR'])"
    program = {"words": [sys.executable, "-c", code], "metrics": ["loss"], "directory": str(tmp_path)}
    found = []
    for task in ("a", "b"):
        start = {
            "program": dict(program), "config": {}, "facts": facts, "iteration": 0, "restores": False,
            "grace_s": 1.0, "gpus": "",
        }  # fmt: skip
        write_json(files, f"{task}/start.json", start)
        subprocess.run([sys.executable, "-m", "overtone.sweep.agent_trial", str(tmp_path), task], check=True)
        inbox, messages = Inbox(files, f"{task}/out"), []
        while batch := inbox.take():
            messages += batch
        assert messages[-1] == {"end": "done"}
        found.append("".join(one.get("output", "") for one in messages))
    assert all(one.startswith("loss=1 ") for one in found)
    assert len(set(found)) == 2
