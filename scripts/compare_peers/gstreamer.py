# SPDX-License-Identifier: Apache-2.0
"""One end of a GStreamer call, for scripts/compare-peers.

Usage: gstreamer.py send|receive|check LOG SETTINGS

`send` logs when each frame was due and its RTP timestamp. `receive` logs when each frame was
decoded and a checksum of its luma. `check` logs the checksums for the encoder's output. Times are
from the monotonic clock, which both namespaces share.
"""
import json, os, sys, threading, time, zlib

import gi

for name in ("Gst", "GstRtp", "GstVideo"):
    gi.require_version(name, "1.0")
from gi.repository import GLib, Gst, GstRtp, GstVideo

MEDIA, AGAIN = 96, 97


def caps(payload):
    """The caps of a payload type for rtpbin. They include the feedback types, because rtpbin sends
    no requests without them."""
    kind = ("H264,rtcp-fb-nack-pli=(boolean)true,rtcp-fb-nack=(boolean)true" if payload == MEDIA
            else f"RTX,apt=(string){MEDIA}")
    return Gst.Caps.from_string(f"application/x-rtp,media=video,clock-rate=90000,payload={payload},encoding-name={kind}")


def luma(buffer, pad_caps):
    """A checksum of the visible luma, without the padding of rows."""
    shape = pad_caps.get_structure(0)
    width, height = shape.get_value("width"), shape.get_value("height")
    meta = GstVideo.buffer_get_video_meta(buffer)
    start, stride = (meta.offset[0], meta.stride[0]) if meta else (0, (width + 3) & ~3)
    good, area = buffer.map(Gst.MapFlags.READ)
    data, value = memoryview(area.data), 0
    for row in range(height):
        value = zlib.crc32(data[start + row * stride:start + row * stride + width], value)
    del data
    buffer.unmap(area)
    return value


def auxiliary(name):
    """A bin with the element that sends or receives retransmissions, in the form that rtpbin
    requires."""
    bin = Gst.Bin.new(None)
    element = Gst.ElementFactory.make(name)
    element.set_property("payload-type-map", Gst.Structure.from_string(
        f"application/x-rtp-pt-map, {MEDIA}=(uint){AGAIN}")[0])
    bin.add(element)
    for which in ("src", "sink"):
        bin.add_pad(Gst.GhostPad.new(f"{which}_0", element.get_static_pad(which)))
    return bin


def rtp_time(buffer):
    good, packet = GstRtp.RTPBuffer.map(buffer, Gst.MapFlags.READ)
    if not good:
        return None
    value = packet.get_timestamp()
    packet.unmap()
    return value


class End:
    def __init__(self, role, log, settings):
        self.role, self.log, self.settings = role, log, settings
        self.frames, self.keys, self.due, self.times = [], 0, [], {}
        self.loop = GLib.MainLoop()
        self.pipeline = Gst.parse_launch(getattr(self, role)())
        if role != "check":
            self.join()
        self.file = open(os.path.join(os.path.dirname(log), "sent.264"), "wb") if role == "send" else None
        one, several = Gst.PadProbeType.BUFFER, Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST
        if role == "send":
            self.probe("due", "src", one, lambda buffer, pad: self.due.append(time.monotonic()))
            self.probe("encoder", "src", one, self.encoded)
            self.probe("pay", "src", several, self.packed)
        else:
            self.probe("decoder", "src", one, self.decoded)
        if role == "receive":
            self.probe("depay", "sink", several, self.came)

    # The pipelines, without the elements that are connected through rtpbin.

    def check(self):
        return (f"filesrc location={self.settings['movie']} ! h264parse ! avdec_h264 name=decoder max-threads=1 "
                "! fakesink sync=false")

    def send(self):
        far, port = self.settings["addresses"][1], self.settings["port"]
        return (f"filesrc location={self.settings['movie']} ! decodebin ! videoconvert ! video/x-raw,format=I420 "
                "! queue max-size-buffers=4 ! clocksync name=due "
                f"! x264enc name=encoder tune=zerolatency speed-preset={self.settings['preset']} threads=2 "
                f"bitrate={self.settings['bitrate'] // 1000} key-int-max=600 "
                "! video/x-h264,profile=high,stream-format=byte-stream,alignment=au "
                f"! rtph264pay name=pay pt={MEDIA} mtu=1200 aggregate-mode=zero-latency config-interval=-1 "
                "timestamp-offset=0 ! identity name=rtp-in silent=true "
                f"udpsink name=rtp-out host={far} port={port} sync=false async=false "
                f"udpsink name=rtcp-out host={far} port={port + 1} sync=false async=false "
                f"udpsrc name=rtcp-in port={port + 1} caps=application/x-rtcp")

    def receive(self):
        far, port = self.settings["addresses"][0], self.settings["port"]
        wait = "false" if self.settings["kind"] == "rough" else "true"
        return (f"udpsrc name=rtp-in port={port} buffer-size=2000000 caps=application/x-rtp,media=video,clock-rate=90000 "
                f"udpsrc name=rtcp-in port={port + 1} caps=application/x-rtcp "
                f"udpsink name=rtcp-out host={far} port={port + 1} sync=false async=false "
                f"rtph264depay name=depay request-keyframe=true wait-for-keyframe={wait} "
                "! h264parse ! avdec_h264 name=decoder max-threads=1 ! fakesink sync=false async=false")

    def join(self):
        rtpbin = Gst.ElementFactory.make("rtpbin")
        Gst.util_set_object_arg(rtpbin, "rtp-profile", "avpf")
        rtpbin.connect("request-pt-map", lambda _, session, payload: caps(payload))
        sends = self.role == "send"
        which = "rtprtxsend" if sends else "rtprtxreceive"
        rtpbin.connect("request-aux-sender" if sends else "request-aux-receiver", lambda _, session: auxiliary(which))
        if not sends:
            for key, value in (("latency", self.settings["latency"]), ("do-retransmission", True), ("do-lost", True)):
                rtpbin.set_property(key, value)
            rtpbin.connect("pad-added", self.added)
        self.rtpbin = rtpbin
        self.pipeline.add(rtpbin)
        named = self.pipeline.get_by_name
        named("rtp-in").link_pads("src", rtpbin, "send_rtp_sink_0" if sends else "recv_rtp_sink_0")
        if sends:
            rtpbin.link_pads("send_rtp_src_0", named("rtp-out"), "sink")
        named("rtcp-in").link_pads("src", rtpbin, "recv_rtcp_sink_0")
        rtpbin.link_pads("send_rtcp_src_0", named("rtcp-out"), "sink")
        session = rtpbin.emit("get-internal-session", 0)
        # Requests can be sent at once, and do not have to wait for the regular RTCP interval.
        session.set_property("rtcp-min-interval", 100_000_000)
        session.set_property("bandwidth", 2.0 * self.settings["bitrate"])

    def added(self, rtpbin, pad):
        if pad.get_name().startswith("recv_rtp_src_0_") and pad.get_name().endswith(f"_{MEDIA}"):
            pad.link(self.pipeline.get_by_name("depay").get_static_pad("sink"))

    # Logging.

    def probe(self, element, pad, kind, action):
        def each(pad, info):
            items = info.get_buffer_list() if info.type & Gst.PadProbeType.BUFFER_LIST else None
            for buffer in [items.get(i) for i in range(items.length())] if items else [info.get_buffer()]:
                action(buffer, pad)
            return Gst.PadProbeReturn.OK
        self.pipeline.get_by_name(element).get_static_pad(pad).add_probe(kind, each)

    def encoded(self, buffer, pad):
        self.keys += not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
        good, area = buffer.map(Gst.MapFlags.READ)
        self.file.write(area.data)
        buffer.unmap(area)

    def packed(self, buffer, pad):
        value = rtp_time(buffer)
        if value is not None and (not self.frames or self.frames[-1]["time"] != value):
            # With tune=zerolatency, each picture gives one frame in the same order.
            self.frames.append({"time": value, "due": self.due[len(self.frames)]})

    def came(self, buffer, pad):
        self.times[buffer.pts] = rtp_time(buffer)

    def decoded(self, buffer, pad):
        at = time.monotonic()
        self.frames.append({"at": at, "time": self.times.get(buffer.pts), "sum": luma(buffer, pad.get_current_caps())})

    def run(self):
        def heard(bus, message):
            if message.type == Gst.MessageType.ERROR:
                print(f"{self.role}: {message.parse_error()}", file=sys.stderr)
            if message.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
                self.loop.quit()

        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", heard)
        self.pipeline.set_state(Gst.State.PLAYING)
        if self.role == "receive":
            # The standard input is closed when the call ends.
            threading.Thread(target=lambda: (sys.stdin.read(), self.loop.quit()), daemon=True).start()
        if self.role == "send":
            def over():
                # The pipeline does not end by itself, because udpsrc never ends.
                if self.due and time.monotonic() > self.due[-1] + 1:
                    self.loop.quit()
                    return False
                return True
            GLib.timeout_add(100, over)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        if self.file:
            self.file.close()
        with open(self.log, "w") as file:
            json.dump({"frames": self.frames, "keys": self.keys}, file)


Gst.init(None)
End(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])).run()
