// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Offers and answers of a stream of Opus with the pictures (RFC 7587, 7). A peer without audio
/// refuses that part of the description, and the session has pictures alone.
public enum AudioNegotiation {
  /// Beyond the payload types of ``VideoNegotiation``, since all types of one transport differ (RFC
  /// 8843, 9.1).
  static let payloadType: UInt8 = 120
  /// The numbers are those of the pictures' part, since they hold for the whole transport (RFC
  /// 8843, 9.1). Audio has no number for feedback about the path: the pictures tell enough of it.
  private static let extensions = VideoNegotiation.extensions.filter { $0.key == HeaderExtensionURI.mid }
  /// The range of `maxaveragebitrate` in bits per second (RFC 7587, 6.1).
  private static let rates = 6000...510_000

  /// Makes the media description of an offer.
  /// - Parameters:
  ///   - direction: Whether audio is to be sent or received.
  ///   - source: The source of the audio that is sent; nil for none.
  public static func media(
    _ direction: PeerDescription.Direction, source: UInt32? = nil
  ) -> PeerDescription.Media {
    var media = PeerDescription.Media(kind: "audio", mid: "1")
    media.direction = direction
    media.extensions = extensions
    // Opus always has this rate and two channels in descriptions (RFC 7587, 7).
    var format = MediaFormat(payloadType: payloadType, codec: "opus", clockRate: 48_000, channels: 2)
    format.parameters = source == nil ? ["stereo": "1"] : ["sprop-stereo": "1"]
    format.feedback = ["nack"]
    media.formats = [format]
    if let source { media.sources = [source] }
    return media
  }

  /// The part of a description that has audio; nil if there is none that is used.
  private static func audio(_ description: PeerDescription) -> (index: Int, media: PeerDescription.Media)? {
    description.media.enumerated().first {
      $0.element.kind == "audio" && !$0.element.isRejected
    }.map { ($0.offset, $0.element) }
  }

  private static func isOpus(_ format: MediaFormat) -> Bool {
    format.isCodec("opus") && format.clockRate == 48_000 && format.channels == 2
  }

  /// Takes the part of an answer to an offer to send.
  /// - Parameters:
  ///   - answer: The answer.
  ///   - offer: The offer.
  /// - Returns: How to send; nil if the other end takes no audio.
  public static func accept(
    _ answer: PeerDescription, sending offer: PeerDescription
  ) -> AudioSender.Configuration? {
    guard let (index, media) = audio(answer), offer.media.indices.contains(index),
      offer.media[index].kind == "audio",
      let source = offer.media[index].sources.first,
      media.direction == .receiveOnly || media.direction == .sendAndReceive,
      let format = media.formats.first(where: isOpus)
    else { return nil }
    return configuration(media, format, source: source)
  }

  /// Takes the part of an answer to an offer to receive.
  /// - Parameters:
  ///   - answer: The answer.
  ///   - source: The source of what this end sends.
  /// - Returns: How to receive; nil if the other end sends no audio.
  public static func accept(receiving answer: PeerDescription, source: UInt32) -> AudioReceiver.Configuration?
  {
    guard let (_, media) = audio(answer), media.direction == .sendOnly || media.direction == .sendAndReceive
    else { return nil }
    let formats = media.formats.filter(isOpus)
    guard let first = formats.first else { return nil }
    var configuration = AudioReceiver.Configuration(
      source: source, payloadTypes: Set(formats.map(\.payloadType)))
    configuration.retransmits = first.feedback.contains("nack")
    return configuration
  }

  /// Adds the audio to the answer to an offer to receive, whose other parts are answered.
  /// - Parameters:
  ///   - answer: The answer, which refuses the audio so far.
  ///   - offer: The offer.
  ///   - source: The source of the audio.
  /// - Returns: How to send; nil if the other end wants no audio: the answer is then unchanged.
  public static func add(
    to answer: inout PeerDescription, _ offer: PeerDescription, source: UInt32
  ) -> AudioSender.Configuration? {
    guard let (index, media) = audio(offer), answer.media.indices.contains(index),
      media.direction == .receiveOnly || media.direction == .sendAndReceive,
      let format = media.formats.first(where: isOpus)
    else { return nil }
    var sending = PeerDescription.Media(kind: "audio", mid: media.mid)
    sending.direction = .sendOnly
    sending.proto = media.proto
    var taken = format
    taken.parameters = ["sprop-stereo": "1"]
    taken.feedback = format.feedback.filter { $0 == "nack" }
    sending.formats = [taken]
    sending.extensions = media.extensions.filter { $0.key == HeaderExtensionURI.mid }
    sending.sources = [source]
    answer.media[index] = sending
    // The settings of the other end are in its own part.
    taken.parameters = format.parameters
    return configuration(sending, taken, source: source)
  }

  private static func configuration(
    _ media: PeerDescription.Media, _ format: MediaFormat, source: UInt32
  ) -> AudioSender.Configuration {
    var configuration = AudioSender.Configuration(source: source, payloadType: format.payloadType)
    var fields = PacketExtensions()
    fields.mid = media.mid
    configuration.headerExtension = fields.content(ExtensionIdentifiers(media.extensions))
    configuration.retransmits = format.feedback.contains("nack")
    configuration.maxRate = format.parameters["maxaveragebitrate"].flatMap { Int($0) }.map {
      min(max($0, rates.lowerBound), rates.upperBound)
    }
    return configuration
  }
}
