# SPDX-License-Identifier: Apache-2.0
"""A path between two programs on this machine that delays datagrams and loses some of them.

The path has two sockets: what one end sends to the first arrives at the other end from the second, and the other way round.
It runs in a process of its own, so that what else a script does delays no datagram. Losses are of packets of media and their
control (RFC 7983: first byte 128 to 191) in both directions; greetings, checks of the path and the handshake pass.
"""
import heapq
import multiprocessing
import os
import random
import selectors
import socket
import time


def address():
    """An address of this machine that is not a loopback address, if there is one: browsers offer no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


def carry(sockets, targets, loss, delay, seed, control):
    """Carries datagrams until the process is ended. `targets` are the addresses of both ends, None for one that is not known
    yet: the first that sends to that socket's other end."""
    try:
        os.nice(-10)
    except OSError:
        pass
    chance = [random.Random(seed), random.Random(seed + 1000)]
    selector = selectors.DefaultSelector()
    for index, end in enumerate(sockets):
        end.setblocking(False)
        selector.register(end, selectors.EVENT_READ, index)
    selector.register(control, selectors.EVENT_READ, None)
    waiting, order = [], 0
    while True:
        wait = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        for key, _ in selector.select(wait):
            if key.data is None:
                index, target = control.recv()
                targets[index] = target
                continue
            index = key.data
            while True:
                try:
                    data, source = sockets[index].recvfrom(4096)
                except (BlockingIOError, ConnectionRefusedError):
                    break
                # Packets that arrive at a socket are for the end behind it, and come from the other end.
                if targets[1 - index] is None:
                    targets[1 - index] = source
                elif targets[1 - index][1] != source[1]:
                    continue
                if data and 128 <= data[0] <= 191 and chance[index].random() < loss:
                    continue
                order += 1
                heapq.heappush(waiting, (time.monotonic() + delay, order, index, data))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, index, data = heapq.heappop(waiting)
            if targets[index] is not None:
                try:
                    sockets[1 - index].sendto(data, targets[index])
                except (BlockingIOError, ConnectionRefusedError):
                    pass


class LossyPath:
    """The path. `ports[0]` stands for the first end: the second end sends there, and receives from there."""

    def __init__(self, loss, delay, seed=1, targets=(None, None)):
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for end in self.sockets:
            end.bind(("0.0.0.0", 0))
        self.ports = [end.getsockname()[1] for end in self.sockets]
        self.control, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=carry, args=(self.sockets, list(targets), loss, delay, seed, theirs), daemon=True)
        self.process.start()

    def stands_for(self, index, description):
        """Learns the address of an end from its session description (SDP), and returns the description with the path in the
        place of that end's candidates."""
        found, lines = None, []
        for line in description.splitlines():
            if line.startswith("a=candidate:"):
                fields = line.split()
                if found is None and fields[2].lower() == "udp" and "." in fields[4] and fields[7] == "host":
                    found = (fields[4], int(fields[5]))
                    fields[4:6] = [address(), str(self.ports[index])]
                    lines.append(" ".join(fields))
                elif found is not None and (fields[4], int(fields[5])) == found:
                    fields[4:6] = [address(), str(self.ports[index])]
                    lines.append(" ".join(fields))
                continue
            lines.append(line)
        if found is None:
            raise RuntimeError("no candidate with an IPv4 address in the description")
        self.control.send((index, found))
        return "\r\n".join(lines) + "\r\n"

    def close(self):
        self.process.terminate()
        self.process.join()
        for end in self.sockets:
            end.close()
