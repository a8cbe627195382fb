// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// What reading a movie may open beside the movie itself: nothing, unless the program says so.
///
/// A file is what its bytes say, not what its name says. A playlist or a list of files that calls itself a movie
/// would make libavformat open whatever it names, and show it as pictures and sound to whoever sent the list.
package struct MediaAccess: Sendable, Hashable {
  /// A local file may refer to other local files.
  package var localToLocal = false
  /// A local file may refer to the network.
  package var localToRemote = false
  /// A file of the network may refer to others, also of other sites.
  package var remoteToRemote = false
  /// A file of the network may refer to local files.
  package var remoteToLocal = false

  package init() {}

  /// Formats whose demuxers read the one file that they are given, and nothing else. Image sequences, playlists,
  /// manifests, session descriptions and formats that continue in files next to them are missing on purpose.
  private static let selfContainedFormats = [
    "mov", "matroska", "webm", "avi", "mpegts", "mpegtsraw", "mpeg", "mpegvideo", "h264", "hevc", "h263",
    "h261", "m4v",
    "av1", "obu", "ivf", "vc1", "vc1test", "dirac", "cavsvideo", "avs2", "avs3", "dnxhd", "mjpeg", "mpjpeg",
    "smjpeg",
    "mjpeg_2000", "yuv4mpegpipe", "flv", "live_flv", "kux", "asf", "asf_o", "ogg", "mxf", "gxf", "lxf", "dv",
    "nut", "nuv",
    "nsv", "rm", "swf", "wtv", "pva", "vivo", "gif", "apng", "webp_pipe", "png_pipe", "jpeg_pipe", "fli",
    "flic", "smk",
    "bink", "roq", "film_cpk", "4xm", "ea", "mvi", "mtv", "cine", "r3d", "filmstrip", "wav", "w64", "aiff",
    "caf", "au", "amr", "amrnb", "amrwb", "mp3", "aac",
    "loas", "ac3", "eac3", "ac4", "flac", "dts", "dtshd", "mlp", "truehd", "ape", "wv", "tta", "tak", "mpc",
    "mpc8", "aa",
    "aax", "voc", "sox", "qcp", "gsm", "g722", "shn", "dsf", "iff", "oma", "xwma", "avr", "nistsphere",
    "ircam", "sbc",
    "aptx", "aptx_hd", "lmlm4", "luodat", "moflex", "thp",
  ].joined(separator: ",")

  /// The options for libavformat when it opens `url`, which is a path or a URL.
  func options(for url: String, isLocal: Bool) -> [String: String] {
    let follows = isLocal ? localToLocal || localToRemote : remoteToRemote || remoteToLocal
    var options: [String: String] = [:]
    var protocols = isLocal ? ["file"] : Self.protocols(of: url)
    if follows {
      // A movie whose samples lie in another movie.
      options["enable_drefs"] = "1"
      protocols += ["crypto", "data", "subfile", "concat"]
      if isLocal ? localToLocal : remoteToLocal { protocols.append("file") }
      if isLocal ? localToRemote : remoteToRemote { protocols += Self.network }
    } else {
      options["format_whitelist"] = Self.selfContainedFormats
    }
    options["protocol_whitelist"] = NSOrderedSet(array: protocols).compactMap { $0 as? String }.joined(
      separator: ",")
    return options
  }

  private static let network = ["http", "https", "httpproxy", "tcp", "tls"]

  /// The protocol that the program named, and those that carry it.
  private static func protocols(of url: String) -> [String] {
    let scheme = url.prefix { $0 != ":" && $0 != "," && $0 != "+" }.lowercased()
    return [scheme] + (scheme == "http" || scheme == "https" ? network : ["tcp", "udp", "tls"])
  }

  /// Whether a complaint of libavformat says that the format was not to be read.
  static func isRefusal(_ messages: [String]) -> Bool {
    messages.contains { $0.contains("not on whitelist") }
  }
}
