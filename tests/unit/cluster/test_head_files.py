"""Commands for the head of a cluster that this machine does not know."""

from __future__ import annotations

import pytest

from overtone.cluster import attach, head_files
from overtone.cluster.config_reading import read_config
from overtone.errors import OvertoneError

COMMANDS = {
    "exec": lambda config, folder: head_files.execute(config, ["true"]),
    "get": lambda config, folder: head_files.get(config, "a", folder),
    "put": lambda config, folder: head_files.put(config, folder, "a"),
    "attach": lambda config, folder: attach.attach(config),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_they_say_so_and_leave_no_folder(tmp_path, monkeypatch, command):
    monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "home"))
    (tmp_path / "c.yaml").write_text("name: unknown\nprovider: {type: local, hosts: [10.0.0.1]}\n")
    config = read_config(tmp_path / "c.yaml")
    with pytest.raises(OvertoneError, match="cluster unknown is not up; overtone up .*c.yaml starts it"):
        COMMANDS[command](config, tmp_path)
    assert not (tmp_path / "home").exists()
