// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ElementaryStream
import Foundation

/// Records a session to a file: video as received, audio transcoded to AAC. The file appears at its
/// path when it is complete.
final class ReceivedFile {
  /// The path of the file, checked before the call begins.
  struct Place: Sendable {
    let destination: Destination
    let replaces: Bool
    /// The only codec whose frames the file holds; nil if it holds those of both.
    let codec: Codec?

    /// - Parameters:
    ///   - path: the path of the file.
    ///   - codec: the codec of the frames that come; nil if it is not known yet.
    ///   - hasCodecOption: whether the command has the option --codec, which an error then names.
    ///   - overwrites: whether an existing file may be replaced.
    /// - Throws: a `Failure` if the file cannot be written, or does not hold the codec.
    init(_ path: String, codec: Codec?, hasCodecOption: Bool = true, overwrites: Bool) throws {
      guard path != "-" else { throw Failure("--out - is not possible here; give a file name", status: 64) }
      let own = Codec(streamEnding: (path as NSString).pathExtension.lowercased())
      destination = try Destination(
        argument: path, movie: "", suffix: "received", codec: codec ?? own ?? .avc1,
        choices: .init(hasCodec: hasCodecOption, acceptsPipe: false, takesContainers: false))
      self.codec = own
      replaces = try OutputCheck.mayReplace(destination.path ?? path, overwrites: overwrites)
      // Finds an unwritable path now, because the call cannot be repeated.
      try PendingFile.check(destination.name)
    }
  }

  private let pending: PendingFile
  private let writer: AVAssetWriter?
  private let input: AVAssetWriterInput?
  /// The audio; nil if there is none, or the file holds none.
  private let audio: AVAssetWriterInput?
  private let stream: FileHandle?
  private let name: String
  /// The path of the part that was kept after a failure; nil if there was none, or nothing is left.
  private var rest: String?
  private var hasFailed = false
  /// The length of a movie fragment. Fragments written before a failure stay readable.
  private static let fragment = CMTime(value: 1, timescale: 4)
  /// How long to wait for the writer to take a sample, in seconds.
  private static let timeout = 10.0

  /// The bit rate of the audio, in bits a second.
  private static let audioRate = 128_000

  /// - Parameters:
  ///   - place: the file.
  ///   - format: the format of the frames.
  ///   - hasAudio: whether audio may come.
  init(_ place: Place, format: CMFormatDescription, hasAudio: Bool) throws {
    name = place.destination.name
    pending = try PendingFile(for: name, replaces: place.replaces, isKept: true)
    guard case .movie(let type) = place.destination.kind else {
      stream = FileHandle(fileDescriptor: try pending.open(), closeOnDealloc: true)
      (writer, input, audio) = (nil, nil, nil)
      return
    }
    stream = nil
    do {
      let writer = try AVAssetWriter(outputURL: URL(fileURLWithPath: pending.path), fileType: type)
      writer.movieFragmentInterval = Self.fragment
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil, sourceFormatHint: format)
      input.expectsMediaDataInRealTime = true
      input.mediaTimeScale = 90_000
      guard writer.canAdd(input) else { throw Failure("cannot write this video to '\(name)'; try .mov") }
      writer.add(input)
      let audio = hasAudio ? Self.audioInput() : nil
      if let audio {
        guard writer.canAdd(audio) else {
          throw Failure("cannot write audio to '\(name)'; omit it with --no-audio")
        }
        writer.add(audio)
      }
      guard writer.startWriting() else { throw Self.failure(writer, name) }
      writer.startSession(atSourceTime: .zero)
      self.writer = writer
      self.input = input
      self.audio = audio
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure("cannot write '\(name)': \(Failure.describe(error))")
    }
  }

  private static func audioInput() -> AVAssetWriterInput {
    let input = AVAssetWriterInput(
      mediaType: .audio,
      outputSettings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: Double(OpusEncoding.rate),
        AVNumberOfChannelsKey: OpusDecoding.channels, AVEncoderBitRateKey: audioRate,
      ])
    input.expectsMediaDataInRealTime = true
    return input
  }

  /// Whether the file has the audio.
  var hasAudio: Bool { audio != nil }

  func append(_ piece: AudioJoiner.Piece) throws {
    guard let writer, let audio else { return }
    guard audio.append(try piece.sample()) else { throw keepRest(Self.reason(writer)) }
  }

  func append(_ sample: CMSampleBuffer) throws {
    if let stream {
      do {
        try stream.write(contentsOf: try sample.annexBData())
      } catch {
        throw keepRest(Failure.describe(error))
      }
    }
    guard let writer, let input else { return }
    let end = SessionTime.now + Self.timeout
    while !input.isReadyForMoreMediaData, writer.status == .writing, SessionTime.now < end {
      Thread.sleep(forTimeInterval: 0.001)
    }
    guard input.isReadyForMoreMediaData, input.append(sample) else {
      throw keepRest(Self.reason(writer))
    }
  }

  /// Completes the file.
  /// - Returns: its path; nil if a failure has left nothing.
  /// - Throws: a `Failure` if the file cannot be written.
  func finish() async throws -> String? {
    guard !hasFailed else { return rest }
    if let stream { try stream.synchronize() }
    if let writer, let input {
      input.markAsFinished()
      audio?.markAsFinished()
      await writer.finishWriting()
      guard writer.status == .completed else { throw keepRest(Self.reason(writer)) }
    }
    // Interrupting is the usual way to end a call, so the file is complete.
    return try pending.commit(isPart: false)
  }

  /// Gives the part that has been written a name.
  /// - Returns: the error, which says where the part is.
  private func keepRest(_ reason: String) -> Failure {
    hasFailed = true
    var status = stat()
    if stat(pending.path, &status) == 0, status.st_size > 0 { rest = try? pending.commit(isPart: true) }
    let outcome = rest.map { "what came before is in '\($0)'" } ?? "nothing of it could be kept"
    return Failure("cannot write '\(name)': \(reason); \(outcome)")
  }

  private static func reason(_ writer: AVAssetWriter) -> String {
    writer.error.map(Failure.describe) ?? "the writer gave no reason"
  }

  private static func failure(_ writer: AVAssetWriter, _ name: String) -> Failure {
    Failure("cannot write '\(name)': \(reason(writer))")
  }
}
