# ruff: noqa
environments = {}


def register_env(name, creator):
    environments[name] = creator
