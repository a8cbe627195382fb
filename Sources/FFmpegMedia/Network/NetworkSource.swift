// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreFoundation
import Foundation
import Synchronization

/// The packets of a network input over all its connections, with times that go on from one to the
/// next. Used by one thread.
final class NetworkSource {
  /// Set by any thread when no more than the rest of what has begun is wanted.
  let isEnding = Atomic(false)
  private let input: NetworkInput
  private let streams: [MediaStream]
  private let formatName: String
  private var demuxer: Demuxer?
  /// By index of a stream of the present connection, the index of the stream that it continues.
  private var indexes: [Int: Int] = [:]
  /// The offset that is added to the times of the current connection, in microseconds.
  private var offset: Int64 = 0
  /// The latest end of a sample so far, in microseconds.
  private var end: Int64 = 0
  private var clock = 0
  private var lastClock = 0
  /// The configuration of the pictures of a new connection, to go with the first of them.
  private var configurations: [Int: Data] = [:]

  private static let microseconds = AVRational(num: 1, den: 1_000_000)

  /// - Parameters:
  ///   - first: The demuxer of the first connection.
  ///   - input: The input.
  init(_ first: Demuxer, _ input: NetworkInput) {
    self.input = input
    demuxer = first
    streams = first.streams
    formatName = first.formatName
    for stream in streams { indexes[stream.index] = stream.index }
  }

  func close() { demuxer = nil }

  /// Waits for the next packet.
  /// - Returns: nil at the end, after a loss that cannot be made good, and if the input was
  ///   cancelled.
  func next() -> MediaPacket? {
    while !input.isCancelled {
      guard let demuxer else { return nil }
      input.interruption.begin(
        isEnding.load(ordering: .relaxed) ? NetworkInput.remainder : input.silence)
      let reason: String
      do {
        if let packet = try demuxer.next() {
          if let packet = moved(packet, demuxer) { return packet }
          continue
        }
        reason = "its sender has ended it"
        if !input.isListener { return nil }
      } catch {
        // RTMP ends in the same way as a connection that breaks.
        let hasEnded = input.isListener && (error as? MediaFileError)?.code == ovt_averror(EIO)
        reason =
          input.interruption.isLate
          ? "nothing came for \(Int(input.silence)) s"
          : hasEnded ? "the connection has ended" : input.redacted(error).detail
      }
      if input.isCancelled || isEnding.load(ordering: .relaxed) { return nil }
      guard input.isListener else {
        input.noteLoss(reason)
        return nil
      }
      waitForReturn(reason)
    }
    return nil
  }

  /// Waits for a sender until there is one whose streams continue those of the last one.
  private func waitForReturn(_ reason: String) {
    let began = MonotonicCondition.now
    input.tell(.left(reason))
    // The port has to be free again.
    demuxer = nil
    var failures = 0
    while !input.isCancelled, !isEnding.load(ordering: .relaxed) {
      do {
        let made = try Demuxer(connecting: input)
        guard let continued = continuation(made) else {
          input.tell(.refused("its streams are of other kinds than before"))
          continue
        }
        indexes = continued
        for (index, own) in continued where !streams[own].isAnnexB {
          let stream = made.streams[index]
          if stream.kind == .video, stream.codec.extradata != streams[own].codec.extradata {
            configurations[own] = stream.codec.extradata
          }
        }
        // Parameter sets may be others than those that the first connection had.
        made.keepsParameterSets = Set(made.streams.filter(\.isAnnexB).map(\.index))
        offset = end
        clock = lastClock + 1
        demuxer = made
        input.tell(.returned(seconds: MonotonicCondition.now - began))
        return
      } catch let failure as NetworkConnection.Failure where failure.isOfSender {
        if !input.isCancelled { input.tell(.refused(failure.error.detail)) }
        failures = 0
      } catch {
        failures += 1
        input.wait(after: failures)
      }
    }
  }

  /// The streams that a new connection continues; nil if it cannot.
  private func continuation(_ made: Demuxer) -> [Int: Int]? {
    guard made.formatName == formatName else { return nil }
    var result: [Int: Int] = [:]
    for stream in streams where stream.kind == .video || stream.kind == .audio {
      let match = made.streams.first { other in
        other.kind == stream.kind && result[other.index] == nil
          && other.codec.codecID == stream.codec.codecID && other.isAnnexB == stream.isAnnexB
          && (stream.kind == .video || other.hasSameAudioFormat(as: stream))
      }
      guard let match else { return nil }
      result[match.index] = stream.index
    }
    return result
  }

  /// A packet with the index and the times of the stream that it continues; nil if it continues
  /// none.
  private func moved(_ packet: MediaPacket, _ demuxer: Demuxer) -> MediaPacket? {
    guard let index = indexes[packet.streamIndex] else { return nil }
    let (from, to) = (demuxer.streams[packet.streamIndex].timeBase, streams[index].timeBase)
    if clock > 0 {
      av_packet_rescale_ts(packet.pointer, from, to)
      packet.shift(back: -av_rescale_q(offset, Self.microseconds, to))
      packet.pointer.pointee.stream_index = Int32(index)
      if let data = configurations.removeValue(forKey: index) { packet.attach(configuration: data) }
    }
    packet.clock = packet.clock.addingClamped(clock)
    lastClock = max(lastClock, packet.clock)
    if streams[index].isTimed, let time = packet.pts ?? packet.dts {
      end = max(end, av_rescale_q(time.addingClamped(max(packet.duration, 1)), to, Self.microseconds))
    }
    return packet
  }
}

extension MediaStream {
  /// Whether audio has the same layout and configuration, so that it can be the same track's.
  fileprivate func hasSameAudioFormat(as other: MediaStream) -> Bool {
    let (own, theirs) = (codec.pointer.pointee, other.codec.pointer.pointee)
    return own.sample_rate == theirs.sample_rate
      && own.ch_layout.nb_channels == theirs.ch_layout.nb_channels && codec.extradata == other.codec.extradata
  }
}

extension MediaPacket {
  /// Adds a decoder configuration that is valid from this packet on.
  fileprivate func attach(configuration data: Data) {
    guard !data.isEmpty,
      let place = av_packet_new_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, data.count)
    else { return }
    data.copyBytes(to: place, count: data.count)
  }
}

extension Demuxer {
  /// Opens a connection to a network input, once.
  /// - Throws: `NetworkConnection.Failure`.
  convenience init(connecting input: NetworkInput) throws {
    let opened = try Demuxer.open(input)
    do {
      input.interruption.begin(input.silence)
      try self.init(
        opened, url: input.address.description, frameRate: nil, access: MediaAccess(),
        interruption: input.interruption, isLive: input.isLive)
    } catch {
      throw NetworkConnection.Failure(error: input.redacted(error), isOfSender: input.isListener)
    }
    dropsDamagedAudio = true
  }

  /// Opens a network input, and begins to read it. A listener waits for a sender as long as that
  /// takes. `init(again:)` makes demuxers that take the packets, each those of its own streams.
  /// - Throws: `MediaFileError`, whose text contains no secret of the address.
  package convenience init(network input: NetworkInput) throws {
    var first: Demuxer?
    while first == nil {
      do {
        if input.isListener { input.tell(.waiting) }
        first = try Demuxer(connecting: input)
      } catch let failure as NetworkConnection.Failure {
        guard failure.isOfSender, !input.isCancelled else {
          input.noteFailure(failure.error.detail)
          throw failure.error
        }
        input.tell(.refused(failure.error.detail))
      }
    }
    guard let first else { throw MediaFileError(.other, "\(input.address) cannot be read") }
    try self.init(again: first, sharing: SharedPackets(first, input), interruption: MediaInterruption())
  }

  /// Whether each packet can be read only once, as of a network input.
  package var isReadOnce: Bool { shared != nil }
}
