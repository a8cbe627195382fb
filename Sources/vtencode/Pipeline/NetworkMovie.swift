// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import ArgumentParser
import FFmpegMedia
import Foundation

/// A movie or a live stream that comes over the network, in place of a file.
enum NetworkMovie {
  /// Checks an argument that may be an address.
  /// - Parameters:
  ///   - text: the argument.
  ///   - isAllowed: whether the user has allowed access to the network.
  ///   - isSandboxed: whether the run gives up access to the network.
  /// - Throws: a `ValidationError` if it is an address that is not read.
  static func validate(_ text: String, isAllowed: Bool, isSandboxed: Bool) throws {
    guard StreamAddress.isAddress(text) else {
      if isAllowed {
        throw ValidationError("--allow-network requires a network address as the source.")
      }
      return
    }
    guard StreamAddress(input: text) != nil else {
      let schemes = StreamAddress.inputSchemes.map { $0 + "://" }.joined(separator: ", ")
      throw ValidationError("'\(text)' is not a supported address; use one of \(schemes).")
    }
    guard isAllowed else {
      throw ValidationError(
        "'\(text)' is on the network, and only files are read unless --allow-network is given; add it, or "
          + "fetch the file first.")
    }
    if isSandboxed {
      throw ValidationError(
        "--sandbox gives up access to the network, which an address as the movie needs; omit one of the two.")
    }
    do { _ = try NetworkInput(text) } catch let error as MediaFileError {
      throw ValidationError(error.detail + ".")
    }
  }

  /// Connects to an address, or waits for a sender.
  /// - Parameters:
  ///   - text: the address, which has been checked.
  ///   - frameRate: the frame rate to convert to; nil to keep the times.
  ///   - start: where the part begins that is read; a live stream begins now.
  ///   - isQuiet: whether nothing is said about the connection.
  /// - Throws: a `Failure` if there is no stream with pictures.
  static func open(
    _ text: String, frameRate: Double?, start: CMTime, isQuiet: Bool
  ) async throws -> MovieSource {
    let input: NetworkInput
    do { input = try NetworkInput(text) } catch let error as MediaFileError { throw Failure(error.detail) }
    let name = input.address.description
    guard !input.isLive || start <= .zero else { throw MovieSource.cannotBeginLater(name) }
    if !isQuiet { input.onEvent { Console.note("vtencode: \(describe($0, name))") } }
    // Whoever waits for the network does not wait any longer.
    Interrupt.shared.onRequest { input.cancel() }
    var source: MovieSource
    do {
      source = try await MovieSource.open(
        AVURLAsset(network: input), name: name, files: [], streamFrameRate: frameRate, convertsRate: true)
    } catch {
      try Interrupt.shared.check()
      throw input.openingFailure.map { Failure($0) } ?? error
    }
    guard !input.isLive || start <= .zero else { throw MovieSource.cannotBeginLater(name) }
    source.network = input
    // A live stream says zero.
    if input.isLive || source.duration <= .zero { source.duration = .indefinite }
    return source
  }

  private static func describe(_ event: NetworkInput.Event, _ name: String) -> String {
    switch event {
    case .waiting: "waiting for a sender at \(name); Ctrl-C ends that"
    case .refused(let reason): "a sender at \(name) was turned away: \(reason)"
    case .left(let reason): "the sender at \(name) has gone (\(reason)); waiting for it"
    case .returned(let seconds): "the sender at \(name) is back after \(TextFormat.fixed(seconds, 1)) s"
    }
  }

  /// The exit status of a run whose input was lost, and that wrote what had come.
  static let exitStatus: Int32 = 3
}

extension MovieSource {
  /// Whether the source can be read once alone.
  var isReadOnce: Bool { live != nil || network != nil }

  /// Whether pictures come at their own pace: from a device, or from a sender.
  var comesLive: Bool { live != nil || network?.isLive == true }
}
