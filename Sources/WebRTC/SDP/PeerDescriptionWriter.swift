// SPDX-License-Identifier: Apache-2.0

extension PeerDescription {
  /// The description as text.
  public var text: String { document.text }

  /// The description as lines: the transport is in each media description that is used, as
  /// RFC 8843, 7.1, wants it of the first, and as older peers want it of all.
  var document: SDPDocument {
    var document = SDPDocument(identifier: identifier)
    if isLite { document.attributes.append(.init("ice-lite")) }
    let used = media.filter { !$0.isRejected }
    if !used.isEmpty {
      document.attributes.append(.init("group", (["BUNDLE"] + used.map(\.mid)).joined(separator: " ")))
    }
    document.attributes.append(.init("extmap-allow-mixed"))
    document.attributes.append(.init("msid-semantic", " WMS *"))
    document.media = media.map(lines)
    return document
  }

  private func lines(_ part: Media) -> SDPDocument.Media {
    let formats = part.formats.isEmpty ? part.writtenFormats : part.formats.map { String($0.payloadType) }
    var media = SDPDocument.Media(
      kind: part.kind, port: part.isRejected ? 0 : 9, proto: part.proto,
      formats: formats.isEmpty ? ["0"] : formats)
    func add(_ name: String, _ value: String? = nil) { media.attributes.append(.init(name, value)) }
    add("mid", part.mid)
    guard !part.isRejected else {
      add(Direction.inactive.rawValue)
      return media
    }
    add("ice-ufrag", credentials.fragment)
    add("ice-pwd", credentials.password)
    add("ice-options", "trickle")
    for fingerprint in fingerprints { add("fingerprint", fingerprint.text) }
    add("setup", setup.rawValue)
    add(part.direction.rawValue)
    add("rtcp-mux")
    add("rtcp-rsize")
    for (uri, number) in part.extensions.sorted(by: { $0.value < $1.value }) {
      add("extmap", "\(number) \(uri)")
    }
    for format in part.formats {
      let channels = format.channels.map { "/\($0)" } ?? ""
      add("rtpmap", "\(format.payloadType) \(format.codec)/\(format.clockRate)\(channels)")
      for feedback in format.feedback { add("rtcp-fb", "\(format.payloadType) \(feedback)") }
      if !format.parameters.isEmpty {
        let pairs = format.parameters.sorted { $0.key < $1.key }.map { $1.isEmpty ? $0 : "\($0)=\($1)" }
        add("fmtp", "\(format.payloadType) \(pairs.joined(separator: ";"))")
      }
    }
    for source in part.sources {
      if let repair = part.repairSources[source] { add("ssrc-group", "FID \(source) \(repair)") }
    }
    if !part.sources.isEmpty { add("msid", "vtencode \(part.kind)") }
    for source in part.sources {
      for number in [source] + (part.repairSources[source].map { [$0] } ?? []) {
        add("ssrc", "\(number) cname:vtencode")
      }
    }
    for candidate in candidates {
      media.attributes.append(.init("candidate", String(candidate.line.dropFirst(10))))
    }
    if hasAllCandidates { add("end-of-candidates") }
    return media
  }
}
