// SPDX-License-Identifier: Apache-2.0

/// Offers and answers of sessions with one stream of H.264 pictures (RFC 8829, RFC 3264).
public enum VideoNegotiation {
  public enum Failure: Error, Equatable, Sendable {
    /// The other end takes or sends no H.264 in packetization mode 1.
    case noH264
    /// The other end does not take the profile that the stream has; what it takes is named.
    case profile(String)
    /// The description does not fit to the offer: what is wrong is said in words.
    case mismatch(String)
  }

  static let payloadType: UInt8 = 96
  private static let feedback = ["nack", "nack pli", "ccm fir", "transport-cc", "goog-remb"]
  static let extensions: [String: UInt8] = [
    HeaderExtensionURI.mid: 1, HeaderExtensionURI.sendTime: 2, HeaderExtensionURI.transportSequence: 3,
  ]

  /// Makes the media description of an offer: a payload type for each profile, and one for its
  /// retransmissions.
  /// - Parameters:
  ///   - direction: Whether pictures are to be sent or received.
  ///   - profiles: The profiles, the preferred one first.
  ///   - source: The source of the pictures that are sent; nil for none.
  ///   - repairSource: The source of their retransmissions.
  public static func media(
    _ direction: PeerDescription.Direction, profiles: [H264Profile], source: UInt32? = nil,
    repairSource: UInt32? = nil
  ) -> PeerDescription.Media {
    var media = PeerDescription.Media(kind: "video", mid: "0")
    media.direction = direction
    media.extensions = extensions
    for (index, profile) in profiles.prefix(8).enumerated() {
      let type = payloadType + UInt8(2 * index)
      var format = MediaFormat(payloadType: type, codec: "H264", clockRate: 90_000)
      format.parameters = [
        "packetization-mode": "1", "profile-level-id": profile.text, "level-asymmetry-allowed": "1",
      ]
      format.feedback = feedback
      var again = MediaFormat(payloadType: type + 1, codec: "rtx", clockRate: 90_000)
      again.parameters = ["apt": String(type)]
      media.formats += [format, again]
    }
    if let source {
      media.sources = [source]
      media.repairSources[source] = repairSource
    }
    return media
  }

  /// Takes an answer to an offer to send.
  /// - Parameters:
  ///   - answer: The answer.
  ///   - offer: The offer.
  /// - Returns: How to send, and the profile that the other end has chosen.
  /// - Throws: A ``Failure``.
  public static func accept(
    _ answer: PeerDescription, sending offer: PeerDescription
  ) throws(Failure) -> (configuration: VideoSender.Configuration, profile: H264Profile) {
    let media = try check(answer, offer)
    guard media.direction == .receiveOnly || media.direction == .sendAndReceive else {
      throw .mismatch("it does not want to receive")
    }
    guard let source = offer.media.first?.sources.first else { throw .mismatch("the offer sends nothing") }
    guard let format = media.formats.first(where: { $0.h264Profile != nil }), let profile = format.h264Profile
    else { throw .noH264 }
    return (
      configuration(media, format, source: source, repairSource: offer.media.first?.repairSources[source]),
      profile
    )
  }

  /// Takes an answer to an offer to receive.
  /// - Parameters:
  ///   - answer: The answer.
  ///   - offer: The offer.
  ///   - source: The source of what this end sends.
  /// - Throws: A ``Failure``.
  public static func accept(
    _ answer: PeerDescription, receiving offer: PeerDescription, source: UInt32
  ) throws(Failure) -> VideoReceiver.Configuration {
    let media = try check(answer, offer)
    guard media.direction == .sendOnly || media.direction == .sendAndReceive else {
      throw .mismatch("it does not want to send")
    }
    let formats = media.formats.filter { $0.h264Profile != nil }
    guard let first = formats.first else { throw .noH264 }
    var configuration = VideoReceiver.Configuration(
      source: source, payloadTypes: Set(formats.map(\.payloadType)))
    for format in formats {
      if let again = media.retransmission(of: format.payloadType) {
        configuration.repairTypes[again.payloadType] = format.payloadType
      }
    }
    configuration.extensions = ExtensionIdentifiers(media.extensions)
    if !first.feedback.contains("transport-cc") { configuration.extensions.transportSequence = nil }
    configuration.retransmits = first.feedback.contains("nack")
    configuration.estimatesRate =
      first.feedback.contains("goog-remb") && configuration.extensions.transportSequence == nil
    return configuration
  }

  /// Checks that an answer has the offer's media, and a usable transport.
  private static func check(
    _ answer: PeerDescription, _ offer: PeerDescription
  ) throws(Failure) -> PeerDescription.Media {
    guard answer.media.count == offer.media.count, let media = answer.media.first, media.kind == "video"
    else {
      throw .mismatch("it has other media than the offer")
    }
    guard !media.isRejected else { throw .mismatch("it refuses the pictures") }
    guard answer.setup != .either else { throw .mismatch("it does not decide who begins with DTLS") }
    return media
  }

  /// Makes the answer to an offer to receive: the first pictures that the other end wants, all else
  /// refused.
  /// - Parameters:
  ///   - offer: The offer.
  ///   - profile: The stream's profile.
  ///   - source: The source of the pictures.
  ///   - repairSource: The source of their retransmissions.
  ///   - base: This end's transport; its media are replaced.
  /// - Returns: The answer, and how to send.
  /// - Throws: A ``Failure``.
  public static func answer(
    to offer: PeerDescription, sending profile: H264Profile.Kind, source: UInt32, repairSource: UInt32,
    base: PeerDescription
  ) throws(Failure) -> (answer: PeerDescription, configuration: VideoSender.Configuration) {
    var answer = base
    answer.setup = offer.setup == .passive ? .active : .passive
    answer.media = offer.media.map { media in
      var refused = media
      refused.isRejected = true
      return refused
    }
    let wanted = offer.media.firstIndex {
      $0.kind == "video" && !$0.isRejected
        && ($0.direction == .receiveOnly || $0.direction == .sendAndReceive)
    }
    guard let wanted else { throw .mismatch("it wants no pictures") }
    let media = offer.media[wanted]
    let formats = media.formats.filter { $0.h264Profile != nil }
    guard !formats.isEmpty else { throw .noH264 }
    guard
      let format = formats.first(where: { $0.h264Profile?.kind == profile })
        ?? formats.first(where: { $0.h264Profile?.decodes(profile) == true })
    else { throw .profile(formats.compactMap { $0.h264Profile?.text }.joined(separator: ", ")) }
    var sending = PeerDescription.Media(kind: "video", mid: media.mid)
    sending.direction = .sendOnly
    sending.proto = media.proto
    var taken = format
    taken.feedback = feedback.filter { format.feedback.contains($0) }
    sending.formats = [taken]
    let again = media.retransmission(of: format.payloadType)
    if let again { sending.formats.append(again) }
    sending.extensions = media.extensions.filter { extensions.keys.contains($0.key) }
    sending.sources = [source]
    if again != nil { sending.repairSources[source] = repairSource }
    answer.media[wanted] = sending
    return (answer, configuration(sending, taken, source: source, repairSource: repairSource))
  }

  private static func configuration(
    _ media: PeerDescription.Media, _ format: MediaFormat, source: UInt32, repairSource: UInt32?
  ) -> VideoSender.Configuration {
    var configuration = VideoSender.Configuration(source: source, payloadType: format.payloadType)
    configuration.extensions = ExtensionIdentifiers(media.extensions)
    if !format.feedback.contains("transport-cc") { configuration.extensions.transportSequence = nil }
    configuration.retransmits = format.feedback.contains("nack")
    configuration.mid = media.mid
    if let again = media.retransmission(of: format.payloadType) {
      configuration.repairType = again.payloadType
      configuration.repairSource = repairSource
    }
    return configuration
  }
}
