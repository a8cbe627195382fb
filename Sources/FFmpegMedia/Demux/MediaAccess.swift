// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation

/// Which other files and addresses reading a movie may open: none, unless the caller allows it.
///
/// A file's format follows from its content, not from its name. libavformat would open whatever a
/// playlist or a list of files that is named like a movie refers to, and so show a private file's
/// content to the sender of the list.
package struct MediaAccess: Sendable, Hashable {
  /// Whether a local file may refer to other local files.
  package var localToLocal = false
  /// Whether a local file may refer to the network.
  package var localToRemote = false
  /// Whether a file of the network may refer to other addresses, also of other sites.
  package var remoteToRemote = false
  /// Whether a file of the network may refer to local files.
  package var remoteToLocal = false

  package init() {}

  /// Formats whose demuxers read only the file that they are given. Image sequences, playlists,
  /// manifests, session descriptions and formats that continue in neighbouring files are missing on
  /// purpose.
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

  /// The options for `avformat_open_input` that enforce the permissions.
  /// - Parameters:
  ///   - url: A path or a URL.
  ///   - isLocal: Whether `url` is a local file.
  func options(for url: String, isLocal: Bool) -> [String: String] {
    let follows = isLocal ? localToLocal || localToRemote : remoteToRemote || remoteToLocal
    var options: [String: String] = [:]
    var protocols = isLocal ? ["file"] : Self.protocols(of: url)
    if follows {
      // References of a movie to samples in other movies (`dref`).
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

  /// The protocol of the URL, and the ones that it is transported by.
  private static func protocols(of url: String) -> [String] {
    let scheme = url.prefix { $0 != ":" && $0 != "," && $0 != "+" }.lowercased()
    return [scheme] + (scheme == "http" || scheme == "https" ? network : ["tcp", "udp", "tls"])
  }

  /// Whether a log message of libavformat says that the format is not on the whitelist.
  static func isPermissionError(_ messages: [String]) -> Bool {
    messages.contains { $0.contains("not on whitelist") }
  }
}
