"""Packs: folders with a checkpoint, its config and its provenance, to be served elsewhere.

    SHA256SUMS        the sha256 of each other file, as `sha256sum` writes and checks it
    config.json       the config of the trial
    provenance.json   where the checkpoint comes from
    checkpoint/       the checkpoint's files

`SHA256SUMS` names every other file, so its own sha256 names the whole pack.
"""
