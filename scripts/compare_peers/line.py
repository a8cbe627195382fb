# SPDX-License-Identifier: Apache-2.0
"""The path between the ends of scripts/compare-peers."""
import heapq, os, random, select, threading, time

MEDIA, AGAIN, PARITY = 96, 97, 98


class Line(threading.Thread):
    """The path between the namespaces: a queue with limited bandwidth, losses and a delay."""

    def __init__(self, devices, options, loss, seed):
        super().__init__(daemon=True)
        self.devices, self.options, self.ends = devices, options, False
        _, self.share, self.length = loss
        self.media, self.other, self.is_bad = random.Random(seed), random.Random(-seed - 1), False
        self.free_at, self.order, self.waiting = 0.0, 0, []
        self.packets = self.lost = self.late = 0
        self.behind = []
        self.bytes = {"media": 0, "again": 0, "parity": 0, "back": 0}

    def loses(self, data):
        header = (data[0] & 15) * 4 + 8
        payload = data[header + 1] & 127 if len(data) > header + 12 and data[9] == 17 else 0
        kind = {MEDIA: "media", AGAIN: "again", PARITY: "parity"}.get(payload)
        # RTCP and other packets use a separate random generator, so that their number does not
        # affect the losses of media packets.
        source = self.media if kind else self.other
        if kind:
            self.bytes[kind] += len(data)
            self.packets += 1
        if not self.length:
            lost = source.random() < self.share
        else:
            leave = 1 / self.length
            chance = source.random()
            if kind:
                self.is_bad = chance < (1 - leave if self.is_bad else leave * self.share / (1 - self.share))
            lost = self.is_bad
        self.lost += bool(lost and kind)
        return lost

    def run(self):
        delay = self.options.delay
        while not self.ends:
            wait = min(max(self.waiting[0][0] - time.monotonic(), 0), 0.05) if self.waiting else 0.05
            for device in select.select(self.devices, [], [], wait)[0]:
                now, data = time.monotonic(), os.read(device, 4096)
                if data[0] >> 4 != 4:
                    continue
                forth = device == self.devices[0]
                if forth:
                    if self.loses(data):
                        continue
                    if self.free_at - now > 1:
                        self.late += 1
                        continue
                    self.free_at = max(self.free_at, now) + len(data) * 8 / self.options.rate
                else:
                    self.bytes["back"] += len(data)
                self.order += 1
                heapq.heappush(self.waiting, ((self.free_at if forth else now) + delay, self.order, forth, data))
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                when, _, forth, data = heapq.heappop(self.waiting)
                self.behind.append(time.monotonic() - when)
                try:
                    os.write(self.devices[forth], data)
                except OSError:
                    pass
