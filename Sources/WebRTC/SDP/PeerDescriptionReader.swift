// SPDX-License-Identifier: Apache-2.0

extension PeerDescription {
  /// The largest numbers of entries that are kept of each media description.
  private static let maxFormats = 64
  private static let maxSources = 32

  /// Reads a description of a browser, a server or another program.
  ///
  /// The transport is that of the first media description that is not refused, since all others
  /// that are used must be bundled with it.
  /// - Parameter text: The description.
  /// - Throws: A ``Failure``.
  public init(_ text: String) throws(Failure) {
    let document: SDPDocument
    do { document = try SDPDocument(text) } catch { throw .syntax(error) }
    guard let first = document.media.firstIndex(where: { $0.port != 0 || $0.attributes.has("bundle-only") })
    else { throw .unusable("it has no media") }
    let transport = document.media[first].attributes
    // An attribute of a media description has precedence over one at the session level (RFC 8866,
    // 5.13).
    func value(_ name: String) -> String? { transport.value(name) ?? document.attributes.value(name) }
    guard let fragment = value("ice-ufrag"), let password = value("ice-pwd"),
      let credentials = ICECredentials(fragment: fragment, password: password)
    else { throw .unusable("it has no credentials of ICE (a=ice-ufrag, a=ice-pwd)") }
    var written = transport.values("fingerprint")
    if written.isEmpty { written = document.attributes.values("fingerprint") }
    let fingerprints = written.prefix(8).compactMap { CertificateFingerprint($0) }
    guard !fingerprints.isEmpty else {
      throw .unusable("it has no fingerprint by SHA-256 or better (a=fingerprint)")
    }
    guard let setup = Setup(rawValue: value("setup") ?? "") else {
      throw .unusable("it does not say who begins with DTLS (a=setup)")
    }
    self.init(
      identifier: document.identifier, credentials: credentials, fingerprints: fingerprints, setup: setup)
    isLite = document.attributes.has("ice-lite")
    let lines = document.attributes + document.media.flatMap(\.attributes)
    for line in lines.lazy.filter({ $0.name == "candidate" }).compactMap(\.value).prefix(256) {
      guard candidates.count < ICEAgent.maxCandidates else { break }
      if let candidate = ICECandidate("candidate:" + line), !candidates.contains(candidate) {
        candidates.append(candidate)
      }
    }
    hasAllCandidates = transport.has("end-of-candidates") || document.attributes.has("end-of-candidates")
    let bundle = document.attributes.values("group").first { $0.hasPrefix("BUNDLE") }?.split(separator: " ")
      .dropFirst().map(String.init)
    for (index, part) in document.media.enumerated() {
      var media = Self.media(part, index: index)
      // Media that do not use the one transport cannot be used.
      let isBundled = bundle?.contains(media.mid) ?? (index == first)
      if !isBundled || !part.attributes.has("rtcp-mux"), media.kind == "audio" || media.kind == "video" {
        media.isRejected = true
      }
      self.media.append(media)
    }
  }

  private static func media(_ part: SDPDocument.Media, index: Int) -> Media {
    var media = Media(kind: part.kind, mid: part.attributes.value("mid") ?? String(index))
    media.isRejected = part.port == 0 && !part.attributes.has("bundle-only")
    media.proto = part.proto
    media.writtenFormats = part.formats
    for direction in [Direction.sendAndReceive, .sendOnly, .receiveOnly, .inactive]
    where part.attributes.has(direction.rawValue) { media.direction = direction }
    guard part.proto.hasSuffix("RTP/SAVPF") || part.proto.hasSuffix("RTP/SAVP") else { return media }
    media.formats = formats(part)
    for text in part.attributes.values("extmap") {
      let words = text.split(separator: " ")
      guard words.count >= 2, let number = words[0].split(separator: "/").first.flatMap({ UInt8($0) }),
        (1...14).contains(number), media.extensions.count < 32
      else { continue }
      media.extensions[String(words[1])] = number
    }
    readSources(part, into: &media)
    return media
  }

  private static func formats(_ part: SDPDocument.Media) -> [MediaFormat] {
    var formats: [MediaFormat] = []
    let listed = Set(part.formats)
    for text in part.attributes.values("rtpmap") {
      let words = text.split(separator: " ", maxSplits: 1)
      guard words.count == 2, listed.contains(String(words[0])), let type = UInt8(words[0]), type < 128,
        formats.count < maxFormats, !formats.contains(where: { $0.payloadType == type })
      else { continue }
      let codec = words[1].split(separator: "/")
      guard codec.count >= 2, let rate = Int(codec[1]), rate > 0 else { continue }
      formats.append(
        MediaFormat(
          payloadType: type, codec: String(codec[0]), clockRate: rate,
          channels: codec.count > 2 ? Int(codec[2]) : nil))
    }
    for text in part.attributes.values("fmtp") {
      let words = text.split(separator: " ", maxSplits: 1)
      guard words.count == 2, let index = formats.firstIndex(where: { String($0.payloadType) == words[0] })
      else { continue }
      for pair in words[1].split(separator: ";").prefix(32) {
        let sides = pair.split(separator: "=", maxSplits: 1)
        guard let name = sides.first else { continue }
        let value = sides.count > 1 ? String(sides[1]) : ""
        formats[index].parameters[name.filter { $0 != " " }.lowercased()] = value.filter { $0 != " " }
      }
    }
    for text in part.attributes.values("rtcp-fb") {
      let words = text.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { continue }
      for index in formats.indices
      where (words[0] == "*" || words[0] == String(formats[index].payloadType))
        && formats[index].feedback.count < 16
      {
        formats[index].feedback.append(String(words[1]))
      }
    }
    // In the order of preference, which is that of the media line.
    let order = Dictionary(part.formats.enumerated().map { ($1, $0) }, uniquingKeysWith: { one, _ in one })
    return formats.sorted { order[String($0.payloadType)] ?? 0 < order[String($1.payloadType)] ?? 0 }
  }

  private static func readSources(_ part: SDPDocument.Media, into media: inout Media) {
    for text in part.attributes.values("ssrc-group") {
      let words = text.split(separator: " ")
      guard words.count == 3, words[0] == "FID", let one = UInt32(words[1]), let other = UInt32(words[2]),
        media.repairSources.count < maxSources
      else { continue }
      media.repairSources[one] = other
    }
    let repair = Set(media.repairSources.values)
    for text in part.attributes.values("ssrc") {
      guard let source = text.split(separator: " ").first.flatMap({ UInt32($0) }),
        !media.sources.contains(source), !repair.contains(source), media.sources.count < maxSources
      else { continue }
      media.sources.append(source)
    }
  }
}
