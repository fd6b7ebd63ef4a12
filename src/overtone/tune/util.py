"""Kept for imports of `tune.util`, of 0.x: objects that trials share."""

from overtone.tune.utils.nested import deep_update, flatten_dict, merge_dicts
from overtone.worker.shared_objects import get as get_pinned_object
from overtone.worker.shared_objects import put as pin_in_object_store

__all__ = ["deep_update", "flatten_dict", "get_pinned_object", "merge_dicts", "pin_in_object_store"]
