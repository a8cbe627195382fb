// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Appends groups of pictures that belong together, such as those for two eyes, to an input that
/// encodes them.
///
/// There is no encoder for such groups (MV-HEVC). Appending a group makes the writer fail with
/// `AVError.encoderNotFound`, as on Apple's systems without such an encoder.
/// `VTIsStereoMVHEVCEncodeSupported()` tells beforehand.
open class AVAssetWriterInputTaggedPixelBufferGroupAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the settings are property-list values that are never changed.
  public let assetWriterInput: AVAssetWriterInput
  /// Core Video's pixel buffer attributes for the buffers of the pool.
  public let sourcePixelBufferAttributes: [String: Any]?

  /// Creates an adaptor.
  /// - Parameters:
  ///   - input: An input of media type `.video` with output settings.
  ///   - sourcePixelBufferAttributes: The pixel format, width and height of buffers from the pool.
  ///     Missing attributes get values that suit the encoder.
  public init(assetWriterInput input: AVAssetWriterInput, sourcePixelBufferAttributes: [String: Any]? = nil) {
    assetWriterInput = input
    self.sourcePixelBufferAttributes = sourcePixelBufferAttributes
    super.init()
    input.lock.withLock { input.sourceAttributes = sourcePixelBufferAttributes.map { $0 as NSDictionary } }
  }

  /// A pool of buffers that the encoder takes without a conversion, unless the attributes ask for
  /// others; nil before `AVAssetWriter.startWriting()`.
  open var pixelBufferPool: CVPixelBufferPool? {
    assetWriterInput.lock.withLock { assetWriterInput.state.pixelBufferPool }
  }

  /// Makes the writer fail, since there is no encoder for groups of pictures.
  /// - Returns: False; `AVAssetWriter.error` is `encoderNotFound`.
  @discardableResult
  open func appendTaggedBuffers(
    _ taggedBuffers: [CMTaggedBuffer], withPresentationTime presentationTime: CMTime
  ) -> Bool {
    assetWriterInput.writer?.fail(Self.unsupportedError)
    return false
  }

  static var unsupportedError: AVError {
    AVError(
      .encoderNotFound, reason: "There is no encoder for groups of pictures (MV-HEVC).",
      advice: "Ask VTIsStereoMVHEVCEncodeSupported() first, and append the pictures of one eye.")
  }
}

extension AVAssetWriterInput {
  /// Appends groups of pictures to an input; see `AVAssetWriterInputTaggedPixelBufferGroupAdaptor`.
  public final class TaggedPixelBufferGroupReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputTaggedPixelBufferGroupAdaptor
    private let writer: AVAssetWriter
    public let sourcePixelBufferAttributes: CVPixelBufferCreationAttributes?
    /// A pool of pixel buffers with the given attributes; nil without attributes.
    public let pixelBufferPool: CVMutablePixelBuffer.Pool?

    init(
      _ adaptor: AVAssetWriterInputTaggedPixelBufferGroupAdaptor, of writer: AVAssetWriter,
      _ attributes: CVPixelBufferCreationAttributes?
    ) {
      self.adaptor = adaptor
      self.writer = writer
      sourcePixelBufferAttributes = attributes
      pixelBufferPool = attributes.flatMap { try? CVMutablePixelBuffer.Pool(pixelBufferAttributes: $0) }
    }

    /// Appends a group of pictures.
    /// - Throws: `AVError`, since the writer fails.
    public func append(
      _ taggedPixelBufferGroup: [CMTaggedDynamicBuffer], with presentationTime: CMTime
    ) async throws { _ = try appendImmediately(taggedPixelBufferGroup, with: presentationTime) }

    /// Appends a group of pictures.
    /// - Throws: `AVError`, since the writer fails.
    public func appendImmediately(
      _ taggedPixelBufferGroup: [CMTaggedDynamicBuffer], with presentationTime: CMTime
    ) throws -> Bool {
      let appended = taggedPixelBufferGroup.withUnsafeTaggedBuffers {
        adaptor.appendTaggedBuffers($0, withPresentationTime: presentationTime)
      }
      guard appended else { throw writer.reason }
      return true
    }

    /// Marks the input as finished.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }

  /// Appends groups of metadata items to an input from asynchronous code, without blocking a thread
  /// of Swift's cooperative pool.
  public final class MetadataReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputMetadataAdaptor
    private let writer: AVAssetWriter

    init(_ input: AVAssetWriterInput, of writer: AVAssetWriter) {
      adaptor = AVAssetWriterInputMetadataAdaptor(assetWriterInput: input)
      self.writer = writer
    }

    /// Waits until the input is ready, then appends the group.
    /// - Throws: `AVError` if the writing has failed or is not under way; `CancellationError` if
    ///   the task is cancelled.
    public func append(_ timedMetadataGroup: AVTimedMetadataGroup) async throws {
      while try !appendImmediately(timedMetadataGroup) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Appends the group if the input is ready.
    /// - Returns: False if the input is not ready; the group is not appended then.
    /// - Throws: `AVError` if the writing has failed or is not under way.
    public func appendImmediately(_ timedMetadataGroup: AVTimedMetadataGroup) throws -> Bool {
      guard try writer.wantsMore(of: adaptor.assetWriterInput) else { return false }
      guard adaptor.append(timedMetadataGroup) else { throw writer.reason }
      return true
    }

    /// Marks the input as finished.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }
}

extension AVAssetWriter {
  /// Adds an input, and returns a receiver that appends groups of pictures to it. If the input
  /// cannot be added, the writer fails.
  public func inputTaggedPixelBufferGroupReceiver(
    for input: AVAssetWriterInput, pixelBufferAttributes attributes: CVPixelBufferCreationAttributes?
  ) -> sending AVAssetWriterInput.TaggedPixelBufferGroupReceiver {
    let adaptor = AVAssetWriterInputTaggedPixelBufferGroupAdaptor(
      assetWriterInput: input,
      sourcePixelBufferAttributes: attributes.map { $0.dictionary as? [String: Any] ?? [:] })
    input.performsMultiPassEncodingIfSupported = false
    add(input)
    return AVAssetWriterInput.TaggedPixelBufferGroupReceiver(adaptor, of: self, attributes)
  }

  /// Adds an input, and returns a receiver that appends groups of metadata items to it. If the
  /// input cannot be added, the writer fails.
  public func inputMetadataReceiver(
    for input: AVAssetWriterInput
  ) -> sending AVAssetWriterInput.MetadataReceiver {
    add(input)
    return AVAssetWriterInput.MetadataReceiver(input, of: self)
  }
}
