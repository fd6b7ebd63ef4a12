"""The way in to a running experiment: requests from other threads, processes and machines.

A request is a dict with the fields of `core.requests.Requested`. `Inbox` hands requests to the loop of
the driver; `Server` takes them from a socket in the experiment's folder; `send` brings one there, or
appends it to the journal if no driver runs; `Verbs` offers them as methods.
"""
