"""Callbacks for training loops of other libraries; import each module directly."""
