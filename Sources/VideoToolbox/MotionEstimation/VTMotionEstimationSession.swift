// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation
import VideoEncoding

/// Estimates the motion between two pictures: for each block of one, where its samples are in the
/// other. May be used from any thread.
///
/// The vectors come as a pixel buffer of `kCVPixelFormatType_TwoComponent16Half` with one pixel for
/// each block, of the pictures' size divided by the edge of a block and rounded up: the
/// displacement to the right, then that down, in pixels. A block at `p` of the current picture
/// resembles the reference at `p` plus its vector.
public final class VTMotionEstimationSession: PropertySession, CFRuntimeObject, @unchecked Sendable, Hashable
{
  // Sendable: `lock` guards `isInvalid`, and `queue` the pictures.
  package static let cfTypeID = CFRuntimeRegister("VTMotionEstimationSession")

  /// The size of the blocks for each of which there is a vector.
  public enum BlockSize: Int, Sendable {
    case blockSize16x16 = 16
    case blockSize4x4 = 4
  }

  /// Options for a pair of pictures.
  public struct FrameFlags: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The current picture is the reference of the next call, which then does not copy it again.
    public static let currentBufferWillBeNextReferenceBuffer = FrameFlags(rawValue: 1 << 0)
  }

  /// The motion between two pictures.
  public struct Motion: Sendable {
    /// The vectors; see ``VTMotionEstimationSession`` for their layout.
    public let motionVector: CVReadOnlyPixelBuffer
  }

  /// The largest width and height of pictures.
  private static let largestSide: UInt32 = 16_384

  /// The text that the session was created with.
  public let label: String?
  /// Whether vectors point to quarters of a pixel; otherwise to whole pixels.
  public let useMultiPassSearch: Bool
  /// The size of the blocks.
  public var motionVectorSize: BlockSize { get throws { blockSize } }
  /// The size and the pixel format that suit the session best. Pictures of other formats are
  /// converted.
  public var sourcePixelBufferAttributes: [String: any Sendable] {
    [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
      kCVPixelBufferWidthKey as String: width, kCVPixelBufferHeightKey as String: height,
    ]
  }

  private let width: Int
  private let height: Int
  private let blockSize: BlockSize
  private let lock = Lock()
  private var isInvalid = false
  private let queue = DispatchQueue(label: "VTMotionEstimationSession")
  private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()
  private let filter = TemporalFilter()
  private let converter = PixelConverter()
  /// The last current picture, where it is the next reference.
  private var kept: (buffer: CVPixelBuffer, picture: FilterPicture)?

  /// Creates a session.
  /// - Parameters:
  ///   - width: The width of the pictures, 1 to 16384 pixels.
  ///   - height: Their height, 1 to 16384 pixels.
  ///   - motionVectorSize: The size of the blocks.
  ///   - useMultiPassSearch: Whether vectors point to quarters of a pixel.
  ///   - label: A text by which the program recognises the session.
  /// - Throws: An `NSError` of the domain `NSOSStatusErrorDomain` with the code `kVTParameterErr`
  ///   for another size.
  public init(
    width: UInt32, height: UInt32, motionVectorSize: BlockSize = .blockSize16x16,
    useMultiPassSearch: Bool = false, label: String? = nil
  ) throws {
    guard (1...Self.largestSide).contains(width), (1...Self.largestSide).contains(height) else {
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(kVTParameterErr))
    }
    (self.width, self.height, blockSize) = (Int(width), Int(height), motionVectorSize)
    (self.useMultiPassSearch, self.label) = (useMultiPassSearch, label)
    queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
  }

  public static func == (a: VTMotionEstimationSession, b: VTMotionEstimationSession) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// Estimates the motion of a picture.
  /// - Parameters:
  ///   - currentImage: The picture whose blocks are searched for.
  ///   - referenceImage: The picture in which they are searched for, of the same pixel format.
  ///   - flags: Options for this pair.
  /// - Throws: An `NSError` of the domain `NSOSStatusErrorDomain`; see
  ///   `__VTMotionEstimationSessionEstimateMotionVectors` for its codes.
  public func motion(
    of currentImage: CVReadOnlyPixelBuffer, comparedTo referenceImage: CVReadOnlyPixelBuffer,
    flags: FrameFlags = []
  ) async throws -> Motion {
    try await withCheckedThrowingContinuation { continuation in
      @Sendable func fail(_ status: OSStatus) {
        continuation.resume(throwing: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
      }
      let current = currentImage.withUnsafeBuffer { $0 }
      let reference = referenceImage.withUnsafeBuffer { $0 }
      let status = estimate(current, comparedTo: reference, flags) { status, vectors in
        guard let vectors else { return fail(status) }
        continuation.resume(returning: Motion(motionVector: CVReadOnlyPixelBuffer(unsafeBuffer: vectors)))
      }
      if status != noErr { fail(status) }
    }
  }

  /// Estimates the motion on the session's queue, and calls the handler there.
  func estimate(
    _ current: CVPixelBuffer, comparedTo reference: CVPixelBuffer, _ flags: FrameFlags,
    handler: @escaping @Sendable (OSStatus, CVPixelBuffer?) -> Void
  ) -> OSStatus {
    guard !lock.withLock({ isInvalid }) else { return kVTInvalidSessionErr }
    let format = CVPixelBufferGetPixelFormatType(current)
    for buffer in [current, reference] {
      guard CVPixelBufferGetWidth(buffer) == width, CVPixelBufferGetHeight(buffer) == height,
        CVPixelBufferGetPixelFormatType(buffer) == format
      else { return kVTParameterErr }
    }
    guard Self.lumaFormats.contains(format) || PixelConverter.canRead(format) else {
      return kVTPixelTransferNotSupportedErr
    }
    queue.async { [self] in
      do throws(StatusError) {
        handler(noErr, try vectors(current, reference, flags))
      } catch {
        handler(error.status, nil)
      }
    }
    return noErr
  }

  /// Waits until the handlers of all earlier calls have returned; returns at once in a handler.
  func completeFrames() -> OSStatus {
    guard !lock.withLock({ isInvalid }) else { return kVTInvalidSessionErr }
    if DispatchQueue.getSpecific(key: Self.queueKey) != ObjectIdentifier(self) { queue.sync {} }
    return noErr
  }

  func invalidate() { lock.withLock { isInvalid = true } }

  // MARK: - Search

  /// Formats of 8 bits whose first plane holds luma.
  private static let lumaFormats: Set<OSType> = [
    kCVPixelFormatType_OneComponent8, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange,
    kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, kCVPixelFormatType_420YpCbCr8Planar,
    kCVPixelFormatType_420YpCbCr8PlanarFullRange,
  ]

  private func vectors(
    _ current: CVPixelBuffer, _ reference: CVPixelBuffer, _ flags: FrameFlags
  ) throws(StatusError) -> CVPixelBuffer {
    let other: FilterPicture
    if let kept, kept.buffer === reference { other = kept.picture } else { other = try copy(reference) }
    let picture = try copy(current)
    kept = flags.contains(.currentBufferWillBeNextReferenceBuffer) ? (current, picture) : nil
    let field = filter.motion(of: picture, in: other, isFractional: useMultiPassSearch)
    let edge = blockSize.rawValue
    let (columns, rows) = ((width + edge - 1) / edge, (height + edge - 1) / edge)
    let output = try makePixelBuffer(columns, rows, kCVPixelFormatType_TwoComponent16Half)
    CVPixelBufferLockBaseAddress(output, [])
    defer { CVPixelBufferUnlockBaseAddress(output, []) }
    guard let base = CVPixelBufferGetBaseAddress(output) else { throw StatusError(kVTAllocationFailedErr) }
    nonisolated(unsafe) let target = base
    let bytesPerRow = CVPixelBufferGetBytesPerRow(output)
    @Sendable func write(_ vectors: UnsafePointer<MotionField.Vector>, _ row: Int) {
      let halves = (target + row * bytesPerRow).assumingMemoryBound(to: Float16.self)
      for column in 0..<columns {
        halves[2 * column] = Float16(Float(vectors[column].x) / 4)
        halves[2 * column + 1] = Float16(Float(vectors[column].y) / 4)
      }
    }
    if blockSize == .blockSize16x16 {
      for row in 0..<rows { write(field.vectors + row * picture.columns, row) }
      return output
    }
    nonisolated(unsafe) let search = filter
    let isFractional = useMultiPassSearch
    DispatchQueue.concurrentPerform(iterations: rows) { row in
      withUnsafeTemporaryAllocation(of: MotionField.Vector.self, capacity: 4 * picture.columns) { memory in
        guard let found = memory.baseAddress else { return }
        search.fineMotion(
          row: row, of: picture, in: other, near: field, isFractional: isFractional, to: found)
        write(found, row)
      }
    }
    return output
  }

  /// Copies the luma of a picture.
  private func copy(_ buffer: CVPixelBuffer) throws(StatusError) -> FilterPicture {
    var source = buffer
    if !Self.lumaFormats.contains(CVPixelBufferGetPixelFormatType(buffer)) {
      source = try makePixelBuffer(width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
      do { try converter.convert(buffer, to: source) } catch {
        throw StatusError(kVTPixelTransferNotSupportedErr)
      }
    }
    guard CVPixelBufferLockBaseAddress(source, .readOnly) == kCVReturnSuccess else {
      throw StatusError(kVTParameterErr)
    }
    defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
    let isPlanar = CVPixelBufferGetPlaneCount(source) > 0
    let base = isPlanar ? CVPixelBufferGetBaseAddressOfPlane(source, 0) : CVPixelBufferGetBaseAddress(source)
    guard let luma = base?.assumingMemoryBound(to: UInt8.self) else { throw StatusError(kVTParameterErr) }
    let bytesPerRow =
      isPlanar ? CVPixelBufferGetBytesPerRowOfPlane(source, 0) : CVPixelBufferGetBytesPerRow(source)
    // The search looks at luma alone: all rows of chroma are one grey row.
    let grey = [UInt8](repeating: 128, count: (width + 1) / 2)
    return grey.withUnsafeBufferPointer { row in
      let first = row.baseAddress ?? UnsafePointer(luma)
      return filter.copy(
        SourcePicture(
          width: width, height: height, luma: luma, lumaBytesPerRow: bytesPerRow,
          chroma: .planar(cb: first, cbBytesPerRow: 0, cr: first, crBytesPerRow: 0)))
    }
  }

  // MARK: - PropertySession

  // Apple's header names no property; the options of creation cannot be changed.
  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus {
    lock.withLock { isInvalid } ? kVTInvalidSessionErr : kVTPropertyNotSupportedErr
  }

  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?) {
    (lock.withLock { isInvalid } ? kVTInvalidSessionErr : kVTPropertyNotSupportedErr, nil)
  }

  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]]) {
    (lock.withLock { isInvalid } ? kVTInvalidSessionErr : noErr, [:])
  }

  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any]) {
    (lock.withLock { isInvalid } ? kVTInvalidSessionErr : noErr, [:])
  }

  var propertyOrder: [String] { [] }
}
