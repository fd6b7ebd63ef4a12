"""Providers: where nodes are. Each is one module, with its facts in `ABOUT` and five functions.

Overtone's own are the modules of `overtone.cluster.providers`. Others are files that a config names, or
modules of packages with the entry point `overtone.providers`; docs/new-provider.md has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, get_args

from overtone.cluster.resource import TAG, Resource

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.progress import Progress
    from overtone.cluster.remote import Remote
    from overtone.cluster.state import State

__all__ = ["TAG", "About", "Ending", "Listing", "Provider", "RayKeys", "Resource", "Setting"]

Kind = Literal["text", "texts", "port", "gigabytes", "price"]
MachineTypes = Literal["none", "optional", "required"]


class Setting(NamedTuple):
    """One key of `provider` in a config.

    Attributes:
        kind: "text", "texts" (a list, which becomes a tuple without double ones), "port", "gigabytes" (8 to
            16,384) or "price" (US dollars an hour, above 0).
        example: A value as it is written, for errors. It is no default.
        is_required: Whether the config must have it.
    """

    kind: Kind
    example: str
    is_required: bool = False


PRICE = {"price": Setting("price", "0.35")}
"""US dollars an hour for one node, where `prices.json` does not have it: a setting of all providers."""


SSH = {
    "user": Setting("text", "ubuntu"),
    "ssh_key": Setting("text", "~/.ssh/id_ed25519"),
    "port": Setting("port", "22"),
}
"""The settings of a login over SSH."""


class Ending(NamedTuple):
    """The way in which the head of a cluster ends the cluster's machines at a limit.

    Attributes:
        function: "module:function" that ends the machines, workers first; it gets the cluster's `name` and
            `settings` as keywords, and its module must be installed on the head. "" for none: each machine
            shuts down.
        settings: The provider's settings that the function gets; None for those that the config lacks.
        shuts_down: Whether a machine that shuts down is ended by its provider, so that no more is paid.
    """

    function: str = ""
    settings: tuple[str, ...] = ()
    shuts_down: bool = False


class Listing(NamedTuple):
    """The way to find clusters that this machine does not know, for `overtone clusters --all`.

    Attributes:
        function: "module:function" that returns the names of all clusters in a place.
        setting: The setting of the provider that names such a place, such as "region".
        variables: Environment variables that name a place, too.
    """

    function: str
    setting: str
    variables: tuple[str, ...] = ()


class RayKeys(NamedTuple):
    """The keys of Ray's cluster YAML for a cloud whose machines Ray's launcher starts.

    Attributes:
        function: "module:function" that adds them; see `cloud_keys.with_cloud_keys`.
        machine_type: The key of `node_config` with the machine type.
    """

    function: str
    machine_type: str


@dataclass(frozen=True)
class About:
    """The settings and properties of a provider, known without asking it.

    Attributes:
        settings: The keys of `provider` in a config beside `type` and `price`. With the setting "hosts", the
            head is one of the hosts, and the workers are the others.
        left: What is left after `overtone down`, as `overtone plan` says it; "{name}" becomes the cluster's.
        place: The settings that tell two clusters of one name apart.
        head, worker: Examples of machine types, for errors.
        default_head: The head's machine type if the config names none.
        machine_types: Whether workers have a machine type: "none", "optional" or "required".
        has_prices: Whether `prices.json` has the prices of its machine types.
        has_spot: Whether there are spot machines.
        reuses_addresses: Whether a new machine may have the address of an earlier one, and another host key.
        is_rented: Whether its machines cost as long as they exist, whatever runs there.
        requeues: Whether an interrupted run is started again by the provider.
        ending: How the head ends the machines; None if they stay, and only the cluster's processes end.
        listing: How unknown clusters are found; None if they cannot be.
        ray: For a cloud whose machines Ray's launcher starts.
    """

    settings: Mapping[str, Setting]
    left: str
    place: tuple[str, ...] = ()
    head: str = "m6i.large"
    worker: str = "g5.xlarge"
    default_head: str | None = None
    machine_types: MachineTypes = "optional"
    has_prices: bool = False
    has_spot: bool = False
    reuses_addresses: bool = False
    is_rented: bool = True
    requeues: bool = False
    ending: Ending | None = None
    listing: Listing | None = None
    ray: RayKeys | None = None
    keys: Mapping[str, Setting] = field(init=False)
    """`settings` with the price."""

    @property
    def costs_on(self) -> bool:
        """Whether machines stay, and cost, when the head ends the cluster at a limit."""
        return self.is_rented and self.ending is None

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", {**self.settings, **PRICE})
        for name, setting in self.settings.items():
            if name in ("type", *PRICE):
                raise ValueError(f"settings: every provider has {name}")
            if not isinstance(setting, Setting) or setting.kind not in get_args(Kind):
                kinds = ", ".join(get_args(Kind))
                raise ValueError(f"settings[{name!r}]: must be a Setting of one of the kinds {kinds}")
            if name == "hosts" and setting.kind != "texts":
                raise ValueError("settings['hosts']: must be of the kind texts: the hosts become nodes")
        used = {*self.place, *(self.ending.settings if self.ending else ())}
        used |= {self.listing.setting} if self.listing else set()
        if unknown := sorted(used - set(self.keys)):
            raise ValueError(f"{', '.join(unknown)}: not in settings")
        if self.machine_types not in get_args(MachineTypes):
            kinds = ", ".join(get_args(MachineTypes))
            raise ValueError(f"machine_types={self.machine_types!r}: must be one of {kinds}")


class Provider(Protocol):
    """The facts and the five functions of a provider's module."""

    ABOUT: About

    def check(self, config: ClusterConfig) -> str:
        """Check what only this provider knows of the config, without the network.

        Returns:
            What the provider would get, for `overtone plan --show`: Ray's cluster YAML, manifests, a batch
            script. Without any secret.

        Raises:
            ConfigError: The config cannot be used; `config.error` names the line.
        """

    def find(self, config: ClusterConfig) -> list[Resource]:
        """Return what exists of this cluster now. Reads only.

        Raises:
            OvertoneError: The provider does not answer.
        """

    def start(self, config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
        """Start the whole cluster; what is there already is not changed.

        Args:
            config: The cluster's config.
            state: The cluster's records on this machine, locked.
            progress: Shows the phases.
            for_run: Whether the cluster is for one run alone, and may end with it.

        Raises:
            OvertoneError: It cannot be started. The caller then takes down what was started.
        """

    def stop(self, config: ClusterConfig, state: State, progress: Progress) -> None:
        """Take the cluster down. It is repeated as long as `find` finds something, five times at most."""

    def reach(self, config: ClusterConfig, state: State) -> Remote:
        """Return how commands run and files are copied on the head."""
