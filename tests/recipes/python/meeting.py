"""What the stand-ins share: processes that meet at an address, as the tools' own rendezvous does."""
import json
import os
import socket
import subprocess
import sys
import time

PATIENCE = 90


def address_of(host):
    return socket.gethostbyname(host)


def lives_here(host):
    return address_of(host) == address_of(socket.gethostname())


def connect(address, port):
    """A connection to somebody who may begin to listen a little later."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((address, port), timeout=PATIENCE)
        except OSError as error:
            if time.monotonic() > deadline:
                raise RuntimeError(f"nobody listens at {address}:{port}: {error}") from error
            time.sleep(0.1)


def meet(address, port, listens, world, name, word=None):
    """{name: word} of all `world` processes; one of them listens, the others come to it."""
    if not listens:
        with connect(address, port) as peer, peer.makefile("rw") as file:
            print(json.dumps([name, word]), file=file, flush=True)
            answer = file.readline()
        if not answer:
            raise RuntimeError(f"{name} was not wanted at {address}:{port}")
        return dict(json.loads(answer))
    words, files = {name: word}, []
    with socket.create_server(("", port)) as server:
        server.settimeout(PATIENCE)
        while len(words) < world:
            peer, _ = server.accept()
            files.append(peer.makefile("rw"))
            theirs, text = json.loads(files[-1].readline())
            if theirs in words:
                raise RuntimeError(f"{theirs} came twice")
            words[theirs] = text
        for file in files:
            print(json.dumps(list(words.items())), file=file, flush=True)
    return words


def rank_of_launcher():
    """(rank, world, address, port) as torch.distributed wants them from its launcher."""
    missing = [name for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise ValueError(f"environment variable {missing[0]} expected, but not set")
    return (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["MASTER_ADDR"],
            int(os.environ["MASTER_PORT"]))


def launch(address, port, nodes, per_node, command):
    """One launcher on each node: they meet, then each starts its ranks. The exit code."""
    hosts = sorted(meet(address, port, lives_here(address), nodes, socket.gethostname()))
    node = hosts.index(socket.gethostname())
    ranks = [subprocess.Popen([sys.executable, *command], env={
        **os.environ, "RANK": str(node * per_node + local), "LOCAL_RANK": str(local), "MASTER_ADDR": hosts[0],
        "MASTER_PORT": str(port + 1), "WORLD_SIZE": str(nodes * per_node)}) for local in range(per_node)]
    return max(abs(rank.wait()) for rank in ranks)
