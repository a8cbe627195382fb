// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ElementaryStream
import Foundation

/// The file that received frames go to, as they were coded. It gets its name when it is whole.
final class ReceivedFile {
  /// Where it is to be, checked before anything comes.
  struct Place: Sendable {
    let destination: Destination
    let replaces: Bool

    init(_ path: String, overwrites: Bool) throws {
      guard path != "-" else { throw Failure("--out - is not possible here; give a file name", status: 64) }
      destination = try Destination(
        argument: path, movie: "", suffix: "received", codec: .avc1,
        choices: .init(hasCodec: false, takesPipe: false))
      replaces = try OutputCheck.mayReplace(destination.path ?? path, overwrites: overwrites)
      // Nobody calls twice to find that out.
      try PendingFile.check(destination.name)
    }
  }

  private let pending: PendingFile
  private let writer: AVAssetWriter?
  private let input: AVAssetWriterInput?
  private let stream: FileHandle?
  private let name: String
  /// What is left after a failure, under this name; nil before, and when nothing is.
  private var rest: String?
  private var hasFailed = false
  /// A movie is written in fragments of this length: those before a failure stay, whatever happens.
  private static let fragment = CMTime(value: 1, timescale: 4)
  /// Seconds that a writer may take to make room.
  private static let patience = 10.0

  init(_ place: Place, format: CMFormatDescription) throws {
    name = place.destination.name
    pending = try PendingFile(for: name, replaces: place.replaces, isKept: true)
    guard case .movie(let type) = place.destination.kind else {
      stream = FileHandle(fileDescriptor: try pending.open(), closeOnDealloc: true)
      (writer, input) = (nil, nil)
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
      guard writer.startWriting() else { throw Self.failure(writer, name) }
      writer.startSession(atSourceTime: .zero)
      self.writer = writer
      self.input = input
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure("cannot write '\(name)': \(Failure.describe(error))")
    }
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
    let end = SessionTime.now + Self.patience
    while !input.isReadyForMoreMediaData, writer.status == .writing, SessionTime.now < end {
      Thread.sleep(forTimeInterval: 0.001)
    }
    guard input.isReadyForMoreMediaData, input.append(sample) else {
      throw keepRest(Self.reason(writer))
    }
  }

  /// - Returns: Its name; nil if a failure has left nothing.
  func finish() async throws -> String? {
    guard !hasFailed else { return rest }
    if let stream { try stream.synchronize() }
    if let writer, let input {
      input.markAsFinished()
      await writer.finishWriting()
      guard writer.status == .completed else { throw keepRest(Self.reason(writer)) }
    }
    // Ctrl-C is how a call ends: what came until then is all of it.
    return try pending.commit(isPart: false)
  }

  /// Gives what has been written a name, and says which.
  private func keepRest(_ reason: String) -> Failure {
    hasFailed = true
    var status = stat()
    if stat(pending.path, &status) == 0, status.st_size > 0 { rest = try? pending.commit(isPart: true) }
    let fate = rest.map { "what came before is in '\($0)'" } ?? "nothing is left of it"
    return Failure("cannot write '\(name)': \(reason); \(fate)")
  }

  private static func reason(_ writer: AVAssetWriter) -> String {
    writer.error.map(Failure.describe) ?? "the writer gave no reason"
  }

  private static func failure(_ writer: AVAssetWriter, _ name: String) -> Failure {
    Failure("cannot write '\(name)': \(reason(writer))")
  }
}
