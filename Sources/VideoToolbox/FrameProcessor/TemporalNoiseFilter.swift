// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Dispatch
import Foundation
import VideoEncoding

/// The session of a temporal noise filter.
struct TemporalNoiseFilter: FrameEffect {
  let configuration: VTTemporalNoiseFilterConfiguration

  /// The difference of samples of 8 bits from which on a neighbour does not count, at the greatest
  /// strength: three standard deviations of the difference between two frames with very strong
  /// noise.
  private static let greatestLimit: Float = 64

  func process(_ parameters: any VTFrameProcessorParameters) throws {
    guard let parameters = parameters as? VTTemporalNoiseFilterParameters else {
      throw VTFrameProcessorError(.invalidParameterError)
    }
    let strength = parameters.filterStrength
    guard (0...1).contains(strength), parameters.nextFrames.count <= configuration.nextFrameCount,
      parameters.previousFrames.count <= configuration.previousFrameCount
    else { throw VTFrameProcessorError(.invalidParameterError) }
    try checkTimes(parameters)
    let source = parameters.sourceFrame.buffer
    let destination = parameters.destinationFrame.buffer
    let previous = parameters.hasDiscontinuity ? [] : parameters.previousFrames
    let neighbours = (previous + parameters.nextFrames).map(\.buffer)
    for buffer in neighbours + [source, destination] {
      guard CVPixelBufferGetPixelFormatType(buffer) == configuration.pixelFormat,
        CVPixelBufferGetWidth(buffer) == configuration.frameWidth,
        CVPixelBufferGetHeight(buffer) == configuration.frameHeight
      else { throw VTFrameProcessorError(.unsupportedInput) }
    }
    let filter = TemporalFilter()
    let picture = try copy(source, with: filter)
    // Any strength above 0 filters.
    let limit = Int((Self.greatestLimit * strength).rounded(.up))
    let references = try search(
      neighbours, for: picture, previous: previous.count, with: filter, limit: limit)
    CVBufferPropagateAttachments(source, destination)
    try withOutput(destination) { output in
      concurrently(picture.rows) { row in
        filter.filterRow(row, of: picture, with: references, limit: limit, to: output)
      }
    }
  }

  /// Checks that times are numbers, and that the frames that are used are in their order.
  private func checkTimes(_ parameters: VTTemporalNoiseFilterParameters) throws {
    let previous = parameters.hasDiscontinuity ? [] : parameters.previousFrames
    let frames = previous + [parameters.sourceFrame] + parameters.nextFrames
    let times = frames.map(\.presentationTimeStamp)
    guard times.allSatisfy(\.isNumeric), zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw VTFrameProcessorError(.invalidFrameTiming)
    }
  }

  private func search(
    _ neighbours: [CVPixelBuffer], for picture: FilterPicture, previous: Int, with filter: TemporalFilter,
    limit: Int
  ) throws -> [TemporalFilter.Reference] {
    if limit == 0 { return [] }
    let pictures = try neighbours.map { try copy($0, with: filter) }
    let fields = Slots<MotionField>(pictures.count)
    concurrently(pictures.count) { fields[$0] = filter.motion(of: picture, in: pictures[$0]) }
    return pictures.indices.compactMap { i in
      // The nearest neighbours count most.
      let distance = i < previous ? previous - i : i - previous + 1
      return fields[i].map {
        TemporalFilter.Reference(picture: pictures[i], motion: $0, weight: distance == 1 ? 256 : 192)
      }
    }
  }

  /// Calls a function for each number from 0 on, on several threads.
  private func concurrently(_ count: Int, _ body: (Int) -> Void) {
    withoutActuallyEscaping(body) { body in
      // Sendable: each call works on memory of its own.
      nonisolated(unsafe) let body = body
      DispatchQueue.concurrentPerform(iterations: count) { body($0) }
    }
  }

  private func copy(_ buffer: CVPixelBuffer, with filter: TemporalFilter) throws -> FilterPicture {
    guard CVPixelBufferLockBaseAddress(buffer, .readOnly) == kCVReturnSuccess else {
      throw VTFrameProcessorError(.processingError)
    }
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    let planes = try Planes(buffer)
    let chroma: SourcePicture.Chroma =
      if let third = planes.third {
        .planar(
          cb: planes.second, cbBytesPerRow: planes.secondBytesPerRow, cr: third,
          crBytesPerRow: planes.thirdBytesPerRow)
      } else {
        .interleaved(planes.second, bytesPerRow: planes.secondBytesPerRow)
      }
    return filter.copy(
      SourcePicture(
        width: configuration.frameWidth, height: configuration.frameHeight, luma: planes.first,
        lumaBytesPerRow: planes.firstBytesPerRow, chroma: chroma))
  }

  private func withOutput(_ buffer: CVPixelBuffer, _ body: (TemporalFilter.Output) -> Void) throws {
    guard CVPixelBufferLockBaseAddress(buffer, []) == kCVReturnSuccess else {
      throw VTFrameProcessorError(.processingError)
    }
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let planes = try Planes(buffer)
    body(
      TemporalFilter.Output(
        luma: planes.first, lumaBytesPerRow: planes.firstBytesPerRow, cb: planes.second,
        cbBytesPerRow: planes.secondBytesPerRow, cr: planes.third ?? planes.second + 1,
        crBytesPerRow: planes.third == nil ? planes.secondBytesPerRow : planes.thirdBytesPerRow,
        chromaStep: planes.third == nil ? 2 : 1))
  }
}

extension VTTemporalNoiseFilterConfiguration: FrameEffectConfiguration {
  var frameCounts: (previous: Int, next: Int) { (previousFrameCount, nextFrameCount) }

  func makeEffect() -> any FrameEffect { TemporalNoiseFilter(configuration: self) }
}

/// The planes of a locked pixel buffer.
private struct Planes {
  let first: UnsafeMutablePointer<UInt8>
  let firstBytesPerRow: Int
  let second: UnsafeMutablePointer<UInt8>
  let secondBytesPerRow: Int
  /// Cr, if it has a plane of its own.
  let third: UnsafeMutablePointer<UInt8>?
  let thirdBytesPerRow: Int

  init(_ buffer: CVPixelBuffer) throws {
    func plane(_ i: Int) -> UnsafeMutablePointer<UInt8>? {
      i < CVPixelBufferGetPlaneCount(buffer)
        ? CVPixelBufferGetBaseAddressOfPlane(buffer, i)?.assumingMemoryBound(to: UInt8.self) : nil
    }
    guard let first = plane(0), let second = plane(1) else { throw VTFrameProcessorError(.processingError) }
    self.first = first
    self.second = second
    third = plane(2)
    firstBytesPerRow = CVPixelBufferGetBytesPerRowOfPlane(buffer, 0)
    secondBytesPerRow = CVPixelBufferGetBytesPerRowOfPlane(buffer, 1)
    thirdBytesPerRow = third == nil ? 0 : CVPixelBufferGetBytesPerRowOfPlane(buffer, 2)
  }
}

/// Results of calls that run at the same time, each in a place of its own.
private final class Slots<Value>: @unchecked Sendable {
  // Sendable: no two threads use the same place.
  private let values: UnsafeMutableBufferPointer<Value?>

  init(_ count: Int) {
    values = .allocate(capacity: count)
    values.initialize(repeating: nil)
  }

  deinit {
    values.deinitialize()
    values.deallocate()
  }

  subscript(i: Int) -> Value? {
    get { values[i] }
    set { values[i] = newValue }
  }
}
