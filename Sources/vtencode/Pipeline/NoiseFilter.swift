// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CoreMedia
import Dispatch
import VideoToolbox

/// Takes noise out of the pictures of a movie by averaging along their motion. Used by one thread.
final class NoiseFilter {
  private let strength: Float
  private let looksAhead: Bool
  private let processor = VTFrameProcessor()
  private var configuration: VTTemporalNoiseFilterConfiguration?
  private var pixelFormat: OSType = 0
  private var pool = PicturePool()
  /// The frames before the next one, and that one with those after it, as they were read.
  private var previous: [Frame] = []
  private var waiting: [Frame] = []
  private var hasEnded = false

  /// The pixel format to decode to, so that pictures can be filtered: the wanted one or, for one
  /// that the filter does not take, three planes of 8 bits, which are converted afterwards.
  static func pixelFormat(for wanted: OSType) -> OSType {
    VTTemporalNoiseFilterConfiguration.supportedSourcePixelFormats.contains(wanted)
      ? wanted : PixelFormatChoice.planar420.type
  }

  /// - Parameters:
  ///   - strength: how much is filtered, from 0 to 1.
  ///   - looksAhead: whether frames wait for the two that follow them.
  init(strength: Float, looksAhead: Bool) {
    self.strength = strength
    self.looksAhead = looksAhead
  }

  deinit { processor.endSession() }

  /// Filters the next frame.
  ///
  /// - Parameter read: reads a frame of the movie; nil at its end.
  /// - Returns: the frame; nil at the end.
  func next(_ read: () throws -> Frame?) throws -> Frame? {
    while !hasEnded, waiting.count < (looksAhead ? 3 : 1) {
      if let frame = try read() { waiting.append(frame) } else { hasEnded = true }
    }
    guard let frame = waiting.first else { return nil }
    waiting.removeFirst()
    let filtered = try filter(frame)
    previous = previous.suffix(1) + [frame]
    return filtered
  }

  private func filter(_ frame: Frame) throws -> Frame {
    let image = frame.pixelBuffer
    try configure(for: image)
    let before = Array(neighbours(of: frame, previous.reversed()) { $0 < $1 }.reversed())
    let behind = neighbours(of: frame, waiting) { $0 > $1 }
    let target = try pool.picture(
      width: CVPixelBufferGetWidth(image), height: CVPixelBufferGetHeight(image),
      CVPixelBufferGetPixelFormatType(image))
    guard let source = Self.frame(frame),
      let destination = VTFrameProcessorFrame(buffer: target, presentationTimeStamp: frame.time),
      let parameters = VTTemporalNoiseFilterParameters(
        sourceFrame: source, nextFrames: behind, previousFrames: before, destinationFrame: destination,
        filterStrength: strength, hasDiscontinuity: false)
    else {
      // There is no neighbour, as in a movie of one picture.
      return frame
    }
    var failure: (any Error)?
    let done = DispatchSemaphore(value: 0)
    withUnsafeMutablePointer(to: &failure) { failure in
      // Sendable: the semaphore orders the accesses.
      nonisolated(unsafe) let failure = failure
      processor.process(parameters: parameters) { _, error in
        failure.pointee = error
        done.signal()
      }
      done.wait()
    }
    if let failure {
      throw Failure("the movie's pictures cannot be filtered (\(failure)); omit --denoise")
    }
    return Frame(pixelBuffer: target, time: frame.time, duration: frame.duration)
  }

  /// Begins a session for pictures of this size and format, if the previous ones had others.
  private func configure(for image: CVPixelBuffer) throws {
    let format = CVPixelBufferGetPixelFormatType(image)
    let (width, height) = (CVPixelBufferGetWidth(image), CVPixelBufferGetHeight(image))
    if let configuration, configuration.frameWidth == width, configuration.frameHeight == height,
      pixelFormat == format
    {
      return
    }
    guard
      let made = VTTemporalNoiseFilterConfiguration(
        frameWidth: width, frameHeight: height, sourcePixelFormat: format)
    else {
      throw Failure(
        "--denoise filters pictures of 16x16 to 8192x8192 samples, and the movie has \(width)x\(height); omit it"
      )
    }
    processor.endSession()
    try processor.startSession(configuration: made)
    configuration = made
    pixelFormat = format
  }

  /// The frames that can be averaged with a frame: those of the same shape, in the order of time.
  private func neighbours(
    of frame: Frame, _ candidates: [Frame], _ isFurther: (CMTime, CMTime) -> Bool
  ) -> [VTFrameProcessorFrame] {
    var last = frame.time
    return candidates.compactMap { candidate in
      guard hasShape(of: frame.pixelBuffer, candidate), isFurther(candidate.time, last) else { return nil }
      last = candidate.time
      return Self.frame(candidate)
    }
  }

  private func hasShape(of image: CVPixelBuffer, _ other: Frame) -> Bool {
    CVPixelBufferGetWidth(other.pixelBuffer) == CVPixelBufferGetWidth(image)
      && CVPixelBufferGetHeight(other.pixelBuffer) == CVPixelBufferGetHeight(image)
      && CVPixelBufferGetPixelFormatType(other.pixelBuffer) == CVPixelBufferGetPixelFormatType(image)
  }

  private static func frame(_ frame: Frame) -> VTFrameProcessorFrame? {
    VTFrameProcessorFrame(buffer: frame.pixelBuffer, presentationTimeStamp: frame.time)
  }
}

/// How much noise is taken out of a movie.
struct NoiseStrength: ExpressibleByArgument, Sendable, Equatable {
  static let advice = "it takes a strength from 0 (nothing) to 1, such as 0.4"

  var value: Float

  init?(argument: String) {
    guard let value = Float(argument), (0...1).contains(value) else { return nil }
    self.value = value
  }
}
