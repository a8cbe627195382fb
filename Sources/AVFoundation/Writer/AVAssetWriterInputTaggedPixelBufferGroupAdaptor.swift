// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Appends groups of pictures that belong together, such as those for two eyes, to an input that encodes them.
///
/// No encoder here takes such groups (MV-HEVC): what is appended makes the writer fail with `AVError.encoderNotFound`, as it
/// does on Apple's systems where there is none. `VTIsStereoMVHEVCEncodeSupported()` says so beforehand.
open class AVAssetWriterInputTaggedPixelBufferGroupAdaptor: NSObject, @unchecked Sendable {
  // Sendable: immutable; the settings are property-list values that nobody changes.
  public let assetWriterInput: AVAssetWriterInput
  /// Core Video's pixel buffer attributes: what the pool's buffers are to be like.
  public let sourcePixelBufferAttributes: [String: Any]?

  /// - Parameters:
  ///   - input: Of media type `.video`, with output settings.
  ///   - sourcePixelBufferAttributes: The pixel format, width and height of buffers from the pool. What is missing follows the
  ///     encoder.
  public init(assetWriterInput input: AVAssetWriterInput, sourcePixelBufferAttributes: [String: Any]? = nil) {
    assetWriterInput = input
    self.sourcePixelBufferAttributes = sourcePixelBufferAttributes
    super.init()
    input.lock.withLock { input.sourceAttributes = sourcePixelBufferAttributes.map { $0 as NSDictionary } }
  }

  /// Buffers that the encoder takes without a conversion; nil before `AVAssetWriter.startWriting()`.
  open var pixelBufferPool: CVPixelBufferPool? {
    assetWriterInput.lock.withLock { assetWriterInput.state.pixelBufferPool }
  }

  /// Appends a group of pictures.
  /// - Returns: False: see `AVAssetWriter.error`.
  @discardableResult
  open func appendTaggedBuffers(
    _ taggedBuffers: [CMTaggedBuffer], withPresentationTime presentationTime: CMTime
  ) -> Bool {
    assetWriterInput.writer?.fail(Self.refusal)
    return false
  }

  static var refusal: AVError {
    AVError(
      .encoderNotFound, reason: "There is no encoder for groups of pictures (MV-HEVC).",
      advice: "Ask VTIsStereoMVHEVCEncodeSupported() first, and append the pictures of one eye.")
  }
}

extension AVAssetWriterInput {
  /// Takes groups of pictures for an input; see `AVAssetWriterInputTaggedPixelBufferGroupAdaptor`.
  public final class TaggedPixelBufferGroupReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputTaggedPixelBufferGroupAdaptor
    private let writer: AVAssetWriter
    public let sourcePixelBufferAttributes: CVPixelBufferCreationAttributes?
    /// Pixel buffers of the attributes that were given.
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
    /// - Throws: `AVError`: the writer has failed.
    public func append(
      _ taggedPixelBufferGroup: [CMTaggedDynamicBuffer], with presentationTime: CMTime
    ) async throws { _ = try appendImmediately(taggedPixelBufferGroup, with: presentationTime) }

    /// Appends a group of pictures, if the input wants more.
    /// - Throws: `AVError`: the writer has failed.
    public func appendImmediately(
      _ taggedPixelBufferGroup: [CMTaggedDynamicBuffer], with presentationTime: CMTime
    ) throws -> Bool {
      let appended = taggedPixelBufferGroup.withUnsafeTaggedBuffers {
        adaptor.appendTaggedBuffers($0, withPresentationTime: presentationTime)
      }
      guard appended else { throw writer.reason }
      return true
    }

    /// No more groups will come.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }

  /// Takes groups of metadata items for an input, without blocking a thread of Swift's.
  public final class MetadataReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputMetadataAdaptor
    private let writer: AVAssetWriter

    init(_ input: AVAssetWriterInput, of writer: AVAssetWriter) {
      adaptor = AVAssetWriterInputMetadataAdaptor(assetWriterInput: input)
      self.writer = writer
    }

    /// Waits until the input wants more, then appends the group.
    /// - Throws: `AVError` when the writing has failed or is not under way; `CancellationError`.
    public func append(_ timedMetadataGroup: AVTimedMetadataGroup) async throws {
      while try !appendImmediately(timedMetadataGroup) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Appends the group if the input wants more.
    /// - Returns: False if it does not: the group is not appended.
    /// - Throws: `AVError` when the writing has failed or is not under way.
    public func appendImmediately(_ timedMetadataGroup: AVTimedMetadataGroup) throws -> Bool {
      guard try writer.wantsMore(of: adaptor.assetWriterInput) else { return false }
      guard adaptor.append(timedMetadataGroup) else { throw writer.reason }
      return true
    }

    /// No more groups will come.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }
}

extension AVAssetWriter {
  /// Adds an input, and takes its groups of pictures. With one that cannot be added the writer fails.
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

  /// Adds an input, and takes its groups of metadata items. With one that cannot be added the writer fails.
  public func inputMetadataReceiver(
    for input: AVAssetWriterInput
  ) -> sending AVAssetWriterInput.MetadataReceiver {
    add(input)
    return AVAssetWriterInput.MetadataReceiver(input, of: self)
  }
}
