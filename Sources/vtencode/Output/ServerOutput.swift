// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import FFmpegMedia
import Foundation

/// The part of the summary about a server.
struct ServerReport: Sendable, Encodable {
  /// The address without secrets.
  var address: String
  var sentBytes: Int64
  var sentFrames: Int
  /// The frames that were left out because the network took less than was sent.
  var droppedFrames: Int
  /// The frames that were left out while there was no connection.
  var lostFrames: Int
  var reconnections: Int
  /// The time without a connection, in seconds.
  var secondsAway: Double
  /// The duration of the samples that wait to be sent, in seconds, and its largest value.
  var queueSeconds: Double
  var largestQueueSeconds: Double
  /// The factor by which the bit rate was last changed.
  var bitRateScale: Double
  /// Whether there is a connection, or the stream was ended regularly.
  var isConnected: Bool

  init(_ live: OVTLiveOutput) {
    let counts = live.statistics
    address = live.redactedAddress
    (sentBytes, sentFrames) = (counts.sentByteCount, counts.sentPictureCount)
    (droppedFrames, lostFrames) = (counts.droppedPictureCount, counts.lostPictureCount)
    (reconnections, secondsAway) = (counts.reconnectionCount, counts.secondsAway)
    queueSeconds = counts.queuedDuration.seconds
    largestQueueSeconds = counts.largestQueuedDuration.seconds
    bitRateScale = counts.bitRateScale
    isConnected = [.connected, .finished].contains(live.status)
  }

  /// A line of the summary.
  var summary: String {
    var parts = ["\(address), \(TextFormat.bytes(Int(clamping: sentBytes))) sent"]
    if reconnections > 0 { parts.append("\(TextFormat.plural(reconnections, "reconnection"))") }
    if secondsAway > 0 { parts.append("\(TextFormat.fixed(secondsAway, 1)) s disconnected") }
    if lostFrames > 0 { parts.append("\(TextFormat.plural(lostFrames, "frame")) lost while disconnected") }
    if droppedFrames > 0 {
      parts.append("\(TextFormat.plural(droppedFrames, "frame")) dropped because the server was too slow")
    }
    return parts.joined(separator: ", ")
  }

  /// The text of the status line.
  var status: String {
    var parts = [isConnected ? TextFormat.bytes(Int(clamping: sentBytes)) + " sent" : "not connected"]
    if queueSeconds >= 0.1 { parts.append("queue \(TextFormat.fixed(queueSeconds, 1)) s") }
    if bitRateScale < 1 { parts.append("rate \(Int(bitRateScale * 100)) %") }
    if reconnections > 0 { parts.append("\(TextFormat.plural(reconnections, "reconnection"))") }
    if droppedFrames > 0 { parts.append("\(droppedFrames) dropped") }
    return parts.joined(separator: ", ")
  }
}

/// The servers of a run, for its status line. The outputs add themselves.
final class ServerMonitor: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  private let lock = Lock()
  private var servers: [OVTLiveOutput] = []

  func add(_ live: OVTLiveOutput) { lock.withLock { servers.append(live) } }

  var reports: [ServerReport] { lock.withLock { servers }.map(ServerReport.init) }
}

/// Sends a run's tracks to a server.
final class ServerOutput: SampleOutput, @unchecked Sendable {
  // Sendable: one task changes the properties before `start`, and they are read after it.
  private let address: StreamAddress
  private let container: StreamContainer?
  private let isPaced: Bool
  private let hasRate: Bool
  private let showsEvents: Bool
  private let control: EncoderControl
  private let monitor: ServerMonitor
  /// The number by which `control` knows this output.
  private let number: Int
  private var encoders: [TrackEncoder] = []
  private var live: OVTLiveOutput?

  /// - Parameters:
  ///   - container: the container; nil for that of the address's scheme.
  ///   - isPaced: whether samples come in real time, so that none waits for the server.
  ///   - hasRate: whether the encoder keeps a bit rate, which can be lowered for a slow server.
  ///   - showsEvents: whether the user is notified of lost connections.
  ///   - control: is asked for key frames and lower rates.
  ///   - number: a number that no other output of the run has.
  init(
    _ address: StreamAddress, container: StreamContainer?, isPaced: Bool, hasRate: Bool,
    showsEvents: Bool, control: EncoderControl, monitor: ServerMonitor, number: Int
  ) {
    (self.address, self.container) = (address, container)
    (self.isPaced, self.hasRate) = (isPaced, hasRate)
    (self.showsEvents, self.control, self.monitor, self.number) = (showsEvents, control, monitor, number)
  }

  var name: String { address.description }
  let tracks: Set<OutputTrack.Kind> = [.video, .audio]
  private var carrier: StreamContainer { container ?? address.container }
  func plays(_ audio: CMFormatDescription) -> Bool { carrier.holds(audio) }
  let isLive = true
  let beginsAtZero = true
  let backPressure = BackPressure.waits
  let outcomeOfInterruptedRun = "the stream is incomplete"

  func open() {}

  func add(_ track: OutputTrack) -> OutputTrack.ID? {
    if track.kind == .audio, encoders.count > 1, !carrier.holdsSeveralAudioTracks { return nil }
    guard let encoder = try? TrackEncoder(track), carrier.holds(encoder.format) else { return nil }
    encoders.append(encoder)
    return encoders.count - 1
  }

  func start() throws {
    var configuration = OVTLiveOutput.Configuration()
    configuration.expectsMediaDataInRealTime = isPaced
    // With a constant quality there is no rate to lower: frames are left out when too many wait.
    if !hasRate { configuration.congestedQueue = .positiveInfinity }
    let live: OVTLiveOutput
    do {
      live = try OVTLiveOutput(
        address: address, container: container, formats: encoders.map(\.format), configuration: configuration)
    } catch { throw failure(error) }
    self.live = live
    monitor.add(live)
    // A second signal does not wait for the server.
    Interrupt.shared.onRepeat { [weak live] in live?.cancel() }
    live.start { [control, number, address, showsEvents] event in
      switch event {
      case .keyFrameNeeded: control.requestKeyFrame()
      case .bitRateScale(let scale): control.setBitRateScale(scale, for: number)
      case .disconnected: control.setBitRateScale(1, for: number)
      default: break
      }
      if showsEvents, let text = Self.describe(event) { Console.note("vtencode: \(address): \(text)") }
    }
  }

  private static func describe(_ event: OVTLiveOutput.Event) -> String? {
    switch event {
    case .connected(let seconds):
      seconds > 0 ? "connected again after \(TextFormat.fixed(seconds, 1)) s" : nil
    case .disconnected(let reason): "\(reason); connecting again"
    case .bitRateScale(let scale): "the bit rate is now \(Int(scale * 100)) % of the intended one"
    case .dropped(let count): "too slow, so \(TextFormat.plural(count, "frame")) were dropped"
    case .keyFrameNeeded: nil
    }
  }

  func append(_ sample: CMSampleBuffer, to track: OutputTrack.ID) throws {
    guard let live else { return }
    do {
      for part in try encoders[track].encode(sample) { try live.append(part, toTrackAt: track) }
    } catch { throw failure(error) }
  }

  func end(_ track: OutputTrack.ID) throws {
    guard let live else { return }
    do {
      for part in try encoders[track].finish() { try live.append(part, toTrackAt: track) }
    } catch { throw failure(error) }
    live.markTrackAsFinished(at: track)
  }

  func finish() async throws {
    guard let live else { return }
    await live.finish()
    if live.status == .failed, let error = live.error { throw failure(error) }
  }

  func publish(isPart: Bool) -> OutputResult {
    let report = live.map(ServerReport.init)
    return OutputResult(
      fileBytes: Int(clamping: report?.sentBytes ?? 0), servers: [report].compactMap(\.self))
  }

  func abandon() {
    live?.cancel()
    // A server that is no longer slow must not lower the rate of the other outputs.
    control.setBitRateScale(1, for: number)
  }

  private func failure(_ error: any Error) -> Failure {
    if let failure = error as? Failure { return failure }
    if let error = error as? MediaFileError { return Failure("the audio cannot be encoded: \(error.detail)") }
    let reason = (error as NSError).localizedFailureReason ?? Failure.describe(error)
    let text = address.redacted(reason).trimmingCharacters(in: CharacterSet(charactersIn: ". \n"))
    return Failure(text.contains(address.description) ? text : "\(address): \(text)")
  }
}
