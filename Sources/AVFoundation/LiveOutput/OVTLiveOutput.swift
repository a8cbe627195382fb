// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Sends compressed video and audio to a server while they are made, as `AVAssetWriter` writes them
/// to a file. Not part of Apple's API.
///
/// The address decides how: `rtmp://` and `rtmps://` (FLV), `srt://`, `udp://` and `tcp://`
/// (MPEG-TS, ISO/IEC 13818-1), `rtsp://` (ANNOUNCE and RECORD, RFC 2326). Samples are sent by a
/// thread of the output's own. If a connection is lost, the output connects again, after 1, 2, 4,
/// 8, 16 and then every 30 seconds; what is appended meanwhile is left out, and the stream
/// continues with a key frame. No error text, and no description, contains the address's password,
/// stream key or query.
///
/// The encoder is the program's: at ``Event/keyFrameNeeded`` it should make the next picture a key
/// frame (`kVTEncodeFrameOptionKey_ForceKeyFrame`), and at ``Event/bitRateScale(_:)`` change its
/// rate (`kVTCompressionPropertyKey_AverageBitRate`).
public final class OVTLiveOutput: Sendable {
  /// The state of an output.
  public enum Status: Int, Sendable {
    /// ``OVTLiveOutput/start(_:)`` has not been called.
    case unknown
    /// The first connection is being made.
    case connecting
    case connected
    /// The connection was lost, and the output tries to connect again.
    case reconnecting
    /// All samples were sent, and the server was notified of the end of the stream.
    case finished
    /// The first connection could not be made, or the container cannot hold a sample;
    /// ``OVTLiveOutput/error`` tells why.
    case failed
    case cancelled
  }

  /// An event that the program may react to. Events come on a thread of the output's own, or on the
  /// one that appends.
  public enum Event: Sendable {
    /// A connection was made.
    /// - Parameter secondsAway: for how long there was none; 0 for the first connection.
    case connected(secondsAway: Double)
    /// The connection was lost.
    /// - Parameter reason: one line for a person.
    case disconnected(reason: String)
    /// The stream continues with the next key frame.
    case keyFrameNeeded
    /// The network takes less than is sent, or again more: the factor, above 0 and at most 1, to
    /// multiply the intended bit rate with.
    case bitRateScale(Double)
    /// The number of pictures that were dropped because the queue was full.
    case dropped(pictures: Int)
  }

  /// Counts since the start.
  public struct Statistics: Sendable {
    /// Bytes of the samples that were sent.
    public var sentByteCount: Int64 = 0
    /// Pictures that were sent.
    public var sentPictureCount = 0
    /// Pictures that were left out because the queue was full, up to the next key frame.
    public var droppedPictureCount = 0
    /// Pictures that were left out while there was no connection, up to the next key frame.
    public var lostPictureCount = 0
    /// How often a lost connection was made again.
    public var reconnectionCount = 0
    /// The time without a connection after the first one was made, in seconds.
    public var secondsAway = 0.0
    /// The duration of the samples that wait to be sent.
    public var queuedDuration = CMTime.zero
    /// The largest value that `queuedDuration` has had.
    public var largestQueuedDuration = CMTime.zero
    /// The factor of the last ``Event/bitRateScale(_:)``; 1 if there was none.
    public var bitRateScale = 1.0

    public init() {}
  }

  /// Properties that are fixed before the start.
  public struct Configuration: Sendable {
    /// The time limit in seconds of connecting and of each write.
    public var timeout: TimeInterval = 10
    /// Whether the samples come in real time. If they do, `append` never waits: when the queue is
    /// full, pictures are left out up to the next key frame. If not, it waits for room.
    public var expectsMediaDataInRealTime = true
    /// The duration of samples that may wait to be sent.
    public var longestQueue = CMTime(value: 4, timescale: 1)
    /// The duration of waiting samples above which the bit rate should be lowered.
    public var congestedQueue = CMTime(value: 1, timescale: 1)
    /// Whether a lost connection is made again.
    public var reconnects = true
    /// A file of certificates (PEM) that are trusted for `rtmps`; nil: the system's.
    public var certificateFile: URL?

    public init() {}
  }

  private let engine: LiveEngine

  /// Makes an output.
  /// - Parameters:
  ///   - url: The address.
  ///   - formats: The format of each track, at least one, with H.264 or HEVC pictures or compressed
  ///     audio.
  ///   - configuration: Further properties.
  /// - Throws: `AVError(.fileFormatNotRecognized)` if the address has no scheme named above,
  ///   `AVError(.unsupportedOutputSettings)` if it cannot carry a format.
  public convenience init(
    url: URL, formats: [CMFormatDescription], configuration: Configuration = Configuration()
  ) throws {
    guard let address = StreamAddress(url.absoluteString) else {
      throw AVError(
        .fileFormatNotRecognized, reason: "The URL is not the URL of a live stream.",
        advice: "Use one that begins with rtmp, rtmps, srt, udp, tcp or rtsp.")
    }
    try self.init(address: address, container: nil, formats: formats, configuration: configuration)
  }

  /// Makes an output of a container that the address's scheme does not decide.
  /// - Parameter container: The container; nil: that of the scheme.
  package init(
    address: StreamAddress, container: StreamContainer?, formats: [CMFormatDescription],
    configuration: Configuration
  ) throws {
    let carrier = container ?? address.container
    guard !formats.isEmpty else {
      throw AVError(.unsupportedOutputSettings, reason: "A live stream needs at least one track.")
    }
    for format in formats where !carrier.holds(format) {
      throw AVError(
        .unsupportedOutputSettings, reason: "\(carrier.name) cannot hold a track's format.",
        advice: "Use H.264 and AAC.")
    }
    engine = LiveEngine(
      address: address, container: container, formats: formats, configuration: configuration)
  }

  deinit { engine.cancel() }

  /// The address without password, stream key and query.
  public var redactedAddress: String { engine.address.description }
  public var status: Status { engine.status }
  /// Why the output has failed, or why it is not connected at present; nil otherwise.
  public var error: AVError? { engine.error }
  public var statistics: Statistics { engine.statistics }

  /// Begins to connect, and returns at once.
  /// - Parameter handler: Is called with each event; it must not call the output.
  public func start(_ handler: @escaping @Sendable (Event) -> Void = { _ in }) { engine.start(handler) }

  /// Appends samples, which are sent in the order of all tracks' decode times.
  /// - Parameters:
  ///   - sampleBuffer: Compressed samples of the track with numeric times, in decode order.
  ///   - index: The index of the track's format.
  /// - Throws: `AVError(.invalidSourceMedia)` if the samples have no data or times or their decode
  ///   time does not follow the one before; ``error`` if the output has failed;
  ///   `AVError(.operationNotAllowed)` before the start and after the end.
  public func append(_ sampleBuffer: CMSampleBuffer, toTrackAt index: Int) throws {
    try engine.append(sampleBuffer, to: index)
  }

  /// Records that a track has no more samples, so that the others do not wait for it.
  public func markTrackAsFinished(at index: Int) { engine.end(index) }

  /// Sends what waits, tells the server the end of the stream, and waits until that is done, at
  /// most for twice the time limit. If there is no connection, it is not made again.
  public func finish() async { await withCheckedContinuation { engine.finish($0) } }

  /// Closes the connection at once. Blocked calls of `append` return.
  public func cancel() { engine.cancel() }
}
