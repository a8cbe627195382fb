// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreFoundation
import Foundation

/// The resources that a playlist may refer to: files below its folder, or addresses of its own
/// origin (RFC 6454). A playlist may be malicious, and could otherwise have any file of
/// this machine, and any server that it reaches, read into the output.
///
/// libavformat opens every playlist, segment and key through the function that `attach` sets. It
/// follows redirections by itself: the answer of another origin is not read, except of segments
/// that libavformat decrypts, whose final address it does not tell.
final class PlaylistReferences {
  enum Place {
    /// The folder of a local playlist, as an absolute path without symbolic links.
    case folder(String)
    /// The origin of a playlist of the network: scheme, host and port.
    case origin(String)
  }

  private typealias Open =
    @convention(c) (
      UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
      UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32

  private let place: Place
  /// The name of the playlist for messages.
  private let name: String
  /// The options of libavformat's protocols for each connection.
  private let options: [String: String]
  private var open: Open?
  /// Why something was not opened: what the playlist may not refer to.
  private(set) var refusal: MediaFileError?
  /// Why something could not be opened that it may refer to.
  private(set) var failure: MediaFileError?
  /// The number of files and addresses that may still be opened before the playlist counts as open.
  /// A playlist that leads to itself would otherwise never end.
  private var openingBudget: Int? = 1000

  /// Notes that the playlist and what it begins with have been opened.
  func finishOpening() { openingBudget = nil }

  init(_ place: Place, name: String, options: [String: String] = [:]) {
    self.place = place
    self.name = name
    self.options = options
  }

  /// Has a context open all through this object, which has to outlive it.
  func attach(to context: UnsafeMutablePointer<AVFormatContext>) {
    open = context.pointee.io_open
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.io_open = { context, io, url, flags, options in
      guard let context, let opaque = context.pointee.opaque, let url else { return ovt_averror(EINVAL) }
      let references = Unmanaged<PlaylistReferences>.fromOpaque(opaque).takeUnretainedValue()
      // A name that is not UTF-8 cannot be compared with the folder.
      guard let url = String(validatingCString: url) else { return references.refuse("") }
      return references.open(context, io, url, flags, options)
    }
  }

  private func open(
    _ context: UnsafeMutablePointer<AVFormatContext>,
    _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, _ url: String, _ flags: Int32,
    _ options: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    guard flags & AVIO_FLAG_WRITE == 0, let allowed = resolved(url) else { return refuse(url) }
    if let budget = openingBudget {
      guard budget > 0 else {
        refusal = refusal ?? MediaFileError(.damaged, "\(name) refers to more playlists than can be opened")
        return ovt_averror(EACCES)
      }
      openingBudget = budget - 1
    }
    do { try checkVariant(allowed) } catch {
      refusal = refusal ?? error as? MediaFileError
      return ovt_averror(EACCES)
    }
    if let options { for (key, value) in self.options { av_dict_set(options, key, value, 0) } }
    guard let open else { return ovt_averror(EINVAL) }
    let code = open(context, io, allowed, flags, options)
    if code < 0 {
      failure = failure ?? MediaFileError.libav(code, "\(shown(url)) of \(name) cannot be opened")
    } else if case .origin = place, let opened = io?.pointee, let final = Self.location(of: opened),
      !allows(final)
    {
      avio_closep(io)
      return refuse(final)
    }
    return code
  }

  /// Records that something may not be opened.
  /// - Returns: the error code for libavformat.
  private func refuse(_ url: String) -> Int32 {
    refusal = refusal ?? refused(url)
    return ovt_averror(EACCES)
  }

  /// Where a server has led to; nil if it is not known.
  private static func location(of io: UnsafeMutablePointer<AVIOContext>) -> String? {
    var value: UnsafeMutablePointer<UInt8>?
    guard av_opt_get(io, "location", AV_OPT_SEARCH_CHILDREN, &value) >= 0, let value else { return nil }
    defer { av_free(value) }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Throws if a playlist refers to what it may not: before anything is read, and also for
  /// protocols whose segments libavformat would leave out without a word.
  /// - Parameter base: The address of the playlist.
  func check(_ text: PlaylistText, at base: String) throws {
    for reference in text.references {
      let whole = Self.absolute(reference, base: base)
      guard allows(whole) else { throw refused(whole) }
    }
  }

  /// The address of a reference (RFC 3986, 5.2).
  private static func absolute(_ reference: String, base: String) -> String {
    let start = reference.prefix { !"/?#".contains($0) }
    // A colon after a slash is one of a path.
    if start.contains(":") { return reference }
    guard let end = base.range(of: "://") else {
      // A path with its scheme, which has no slashes of its own.
      let folder = (String(base.dropFirst("file:".count)) as NSString).deletingLastPathComponent
      return "file:" + (reference.hasPrefix("/") ? reference : folder + "/" + reference)
    }
    if reference.hasPrefix("//") { return "\(base[..<end.lowerBound]):\(reference)" }
    let authority = base[end.upperBound...].prefix { !"/?#".contains($0) }
    return "\(base[..<end.upperBound])\(authority)/"
  }

  private func refused(_ url: String) -> MediaFileError {
    MediaFileError(.notPermitted, "\(name) refers to \(shown(url)), which is \(Self.outside(place))")
  }

  /// Checks the playlist of a variant, if it is in the folder.
  private func checkVariant(_ url: String) throws {
    guard case .folder = place, url.hasPrefix("file:"), PlaylistText.isName(url) else { return }
    let path = String(url.dropFirst("file:".count))
    // A file that does not exist is named by the error of opening it.
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard let bytes = PlaylistText.contents(of: path), let text = PlaylistText(bytes), !text.hasVariants
    else {
      throw MediaFileError(
        .damaged, "\(shown(url)) of \(name) is not a playlist of segments, as that of a variant has to be")
    }
    try check(text, at: url)
  }

  private static func outside(_ place: Place) -> String {
    switch place {
    case .folder: "not a regular file below the playlist's folder"
    case .origin: "not of the playlist's own server; give the address of the playlist that is there"
    }
  }

  /// Whether an address, which may be that of an encrypted segment, may be opened.
  func allows(_ url: String) -> Bool { resolved(url) != nil }

  /// The address that is opened for an address, which may be that of an encrypted segment: of a
  /// file its path without symbolic links, so that what is opened is what was checked.
  /// - Returns: nil if it may not be opened.
  private func resolved(_ url: String) -> String? {
    let bare = Self.bare(url)
    switch place {
    case .origin(let origin): return Self.origin(of: bare) == origin ? url : nil
    case .folder(let folder):
      // libavformat takes all that follows the scheme for the path.
      let path = String(bare.dropFirst("file:".count))
      guard bare.hasPrefix("file:"), path.hasPrefix("/") else { return nil }
      // A file that does not exist is named by the error of opening it.
      let found = Self.real(path)
      let whole = found ?? Self.lexical(path)
      guard whole.hasPrefix(folder == "/" ? folder : folder + "/") else { return nil }
      if found != nil {
        // Opening a pipe would wait for its writer, and reading a device may never end.
        var status = stat()
        guard stat(whole, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
      }
      return String(url.dropLast(bare.count)) + "file:" + whole
    }
  }

  /// The address of what is behind libavformat's decryption.
  private static func bare(_ url: String) -> String {
    for prefix in ["crypto+", "crypto:"] where url.hasPrefix(prefix) {
      return String(url.dropFirst(prefix.count))
    }
    return url
  }

  /// A reference as messages name it: a file by its name, an address without its secrets.
  private func shown(_ url: String) -> String {
    let bare = Self.bare(url)
    if let address = StreamAddress(input: bare) { return "'\(address.description)'" }
    if bare.hasPrefix("file:") { return "'\((bare as NSString).lastPathComponent)'" }
    return "'\(bare.prefix { $0 != ":" }):...'"
  }

  /// A path without symbolic links; nil if it does not exist.
  static func real(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  /// A path of a file that does not exist.
  private static func lexical(_ path: String) -> String {
    let folder = (path as NSString).deletingLastPathComponent
    return (real(folder) ?? "") + "/" + (path as NSString).lastPathComponent
  }

  /// The scheme, the host and the port of an address of HTTP; nil for any other.
  ///
  /// libavformat knows schemes in lower case only, and would leave segments of others out without a
  /// word; and it does not end the host at a backslash, as browsers do.
  static func origin(of url: String) -> String? {
    guard let end = url.range(of: "://"),
      url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
    else { return nil }
    let scheme = String(url[..<end.lowerBound])
    guard let defaultPort = ["http": 80, "https": 443][scheme] else { return nil }
    let authority = url[end.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
    // The part before the last @ is a user and a password.
    let place =
      authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority[...]
    let digits = place.lastIndex(of: ":").map { place[place.index(after: $0)...] } ?? ""
    guard !place.isEmpty else { return nil }
    if !digits.isEmpty, digits.allSatisfy(\.isNumber), let port = Int(digits) {
      return "\(scheme)://\(place.dropLast(digits.count + 1)):\(port)"
    }
    return "\(scheme)://\(place):\(defaultPort)"
  }
}
