"""`overtone ui`: the dashboard of a folder of experiments, in a browser."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from overtone.cli.arguments import Arguments, add_dir
from overtone.cli.exit_codes import OK
from overtone.errors import ArgumentError, MissingPackageError

if TYPE_CHECKING:
    from overtone.ui.server.registration import KnownServer, Registration

_HERE = "127.0.0.1"
_MOST_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone ui`."""
    about = "an experiment, a folder of experiments, a URL, or a cluster's config (~/overtone_results)"
    parser.add_argument("place", metavar="EXP|FOLDER|URL|CONFIG", nargs="?", help=about)
    add_dir(parser)
    parser.add_argument("--port", type=_port, metavar="N", help="the port (the first free one from 8470)")
    parser.add_argument("--open", action="store_true", dest="opens", help="open a browser")
    about = f"an address of this machine that other machines reach ({_HERE}); needs --token-file"
    parser.add_argument("--host", metavar="HOST", default=_HERE, help=about)
    about = "the file with the login token, instead of a new token"
    parser.add_argument("--token-file", metavar="FILE", help=about)
    parser.add_argument("--read-only", action="store_true", help="refuse all actions")
    parser.add_argument("--demo", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--background", action="store_true", help=argparse.SUPPRESS)  # of tune.run(ui=True)


def run(args: Arguments) -> int:
    """Serve until Ctrl-C.

    Raises:
        ArgumentError: Other machines are let in without a token.
        MissingPackageError: A package of the dashboard is not installed.
    """
    if args.place is not None and args.place.endswith((".yaml", ".yml")) and os.path.isfile(args.place):
        return _show_cluster(args)
    for package in ("starlette", "uvicorn"):
        try:
            import_module(package)
        except ImportError:
            raise MissingPackageError(package, "ui", "the dashboard") from None
    from overtone.ui.server.addresses import is_loopback
    from overtone.ui.server.registration import KnownServer
    from overtone.worker.process_tree import die_with_parent

    if not is_loopback(args.host) and args.token_file is None:
        raise ArgumentError(
            f"--host {args.host} lets other machines in, so it needs --token-file FILE with a token that you "
            "made; through an SSH tunnel (ssh -L 8470:127.0.0.1:8470 HOST) the default is enough"
        )
    place = _place(args.place, args.dir)
    if args.demo:
        die_with_parent(signal.SIGTERM)
    if args.background:
        _leave_caller()
    registration = _registration(args, place)
    if isinstance(registration, KnownServer):
        _show(registration.address, registration.token, args)
        if not args.background:
            sys.stderr.write(f"overtone: process {registration.pid} serves this folder already\n")
        return OK
    try:
        _serve(args, place, registration)
    except KeyboardInterrupt:
        pass
    finally:
        if registration is not None:
            registration.close()
    return OK


def _show_cluster(args: Arguments) -> int:
    """Show the dashboard of a cluster's head until Ctrl-C.

    Raises:
        UnreachableError: The dashboard does not answer any more.
    """
    from pathlib import Path
    from shlex import quote

    from overtone.cluster.config_reading import read_config
    from overtone.cluster.remote import UnreachableError
    from overtone.cluster.remote_dashboard import remote_dashboard, wait_until_lost

    config = read_config(Path(args.place))
    with remote_dashboard(config) as address:
        page, _, token = address.partition("#token=")
        _show(page, token, args)
        try:
            wait_until_lost(page)
        except KeyboardInterrupt:
            return OK
    place = quote(args.place)
    raise UnreachableError(
        f"the dashboard of {config.name} does not answer any more: overtone ui {place} opens it again; "
        f"overtone status {place} shows whether the cluster is up"
    )


def _serve(args: Arguments, place: str, registration: Registration | None) -> None:
    from overtone.ui.data.experiments import Experiments
    from overtone.ui.server.addresses import address_of, listen, names_of
    from overtone.ui.server.app import dashboard
    from overtone.ui.server.assets import page_files
    from overtone.ui.server.life import Life
    from overtone.ui.server.registration import KnownServer
    from overtone.ui.server.service import serve
    from overtone.ui.server.sessions import new_token, token_in

    token = new_token() if args.token_file is None else token_in(args.token_file)
    experiments = Experiments(place, is_demo=args.demo)
    hosts = names_of(args.host)

    def is_running() -> bool:
        return any(one["state"] == "running" for one in experiments.listing())

    def tell() -> None:
        if registration is not None:
            registration.note(KnownServer(address, token, os.getpid()))
        _show(address, token, args)
        if args.background:
            _close_output()

    with listen(args.host, args.port) as listener:
        address = address_of(listener, args.host)
        made = dashboard(
            experiments, token, page_files(), read_only=args.read_only, is_demo=args.demo, hosts=hosts
        )
        try:
            serve(made, listener, tell, Life(is_running) if args.background else None)
        finally:
            experiments.close()


def _registration(args: Arguments, place: str) -> Registration | KnownServer | None:
    """Register this server as the folder's, if it is one for everybody; or return the one that runs."""
    from overtone.ui.server.registration import PATIENCE_S, KnownServer, registered

    if args.read_only or args.demo:
        return None
    is_plain = args.port is None and args.host == _HERE and args.token_file is None
    found = registered(place, PATIENCE_S if is_plain else 0.0)
    return None if isinstance(found, KnownServer) and not is_plain else found


def _show(address: str, token: str, args: Arguments) -> None:
    from overtone.ui.server.browser import open_in_browser

    print(f"{address}#token={token}", flush=True)
    if args.opens and not open_in_browser(f"{address}#token={token}"):
        sys.stderr.write("overtone: there is no browser to open; open the address above\n")


def _leave_caller() -> None:
    """Go on in a child process, so that the caller does not have to wait for this one's end."""
    if os.fork():
        os._exit(0)


def _close_output() -> None:
    """Let the reader of the address see the end of the output."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (1, 2):
        os.dup2(null, fd)
    os.close(null)


def _place(given: str | None, directory: str | None) -> str:
    """Return the folder or URL that is meant.

    Raises:
        NotFoundError: There is no such experiment.
    """
    from overtone.cli.lookup import journal_of, results_folder
    from overtone.store.files import is_url, local_path
    from overtone.store.folder_mark import JOURNAL

    if given is None:
        return os.fspath(results_folder(directory))
    if is_url(given):
        return given
    folder = os.path.abspath(os.path.expanduser(local_path(given)))
    if os.path.isdir(folder) and not os.path.lexists(os.path.join(folder, JOURNAL)):
        return folder
    return os.fspath(journal_of(given, directory).parent)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= _MOST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 0 to {_MOST_PORT}")
