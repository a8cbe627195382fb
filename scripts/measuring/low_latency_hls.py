# SPDX-License-Identifier: Apache-2.0
"""A player's part of low-latency HLS (RFC 8216bis): reads the media playlist with blocking reloads (6.2.5.2), asks for the
part that a preload hint announces (4.4.5.3), and passes the bytes on."""
import http.client
import re
import threading
import urllib.parse


class Client:
    """Passes a stream's initialization section and its parts, as they are published, to a file object."""

    def __init__(self, url, sink):
        place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
        self.path, self.sink, self.ends = place.path, sink, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise OSError(f"{path}: {answer.status}")
        return body

    def beside(self, uri):
        return urllib.parse.urljoin(self.path, uri)

    def run(self):
        try:
            master = self.get(self.path).decode()
            media = next(line for line in master.splitlines() if line and not line.startswith("#"))
            self.path = self.beside(media)
            text = self.get(self.path).decode()
            self.sink.write(self.get(self.beside(re.search(r'EXT-X-MAP:URI="([^"]+)"', text)[1])))
            # The newest part that begins with a key frame, and all after it.
            parts = re.findall(r"#EXT-X-PART:(.*)", text)
            begin = max(number for number, part in enumerate(parts) if "INDEPENDENT=YES" in part)
            known = [self.uri(part) for part in parts[:begin]]
            while not self.ends:
                for part in re.findall(r"#EXT-X-PART:(.*)", text):
                    if self.uri(part) not in known:
                        self.take(self.uri(part), known)
                hint = re.search(r'#EXT-X-PRELOAD-HINT:TYPE=PART,URI="([^"]+)"', text)
                if hint and hint[1] not in known:
                    self.take(hint[1], known)
                text = self.get(f"{self.path}?{self.next(text)}").decode()
        except (OSError, StopIteration, TypeError, ValueError, http.client.HTTPException):
            pass
        finally:
            self.sink.close()

    @staticmethod
    def uri(part):
        return re.search(r'URI="([^"]+)"', part)[1]

    def take(self, uri, known):
        self.sink.write(self.get(self.beside(uri)))
        self.sink.flush()
        known.append(uri)

    @staticmethod
    def next(text):
        """The query for the playlist with the part that follows the last one."""
        number = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1]) + text.count("#EXTINF:")
        part = text[text.rfind("#EXTINF:"):].count("#EXT-X-PART:")
        return f"_HLS_msn={number}&_HLS_part={part}"

    def stop(self):
        self.ends = True
        self.thread.join(12)
