// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetWriterInput {
  /// Takes samples for an input, without blocking a thread of Swift's.
  public final class SampleBufferReceiver: @unchecked Sendable {
    // Sendable: immutable; the input has its own lock.
    private let input: AVAssetWriterInput
    private let writer: AVAssetWriter

    init(_ input: AVAssetWriterInput, of writer: AVAssetWriter) {
      self.input = input
      self.writer = writer
    }

    /// Waits until the input wants more, then appends the sample.
    /// - Throws: `AVError` when the writing has failed or is not under way; `CancellationError`.
    public func append(_ sampleBuffer: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) async throws {
      while try !appendImmediately(sampleBuffer) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Appends the sample if the input wants more.
    /// - Returns: False if it does not: the sample is not appended.
    /// - Throws: `AVError` when the writing has failed or is not under way.
    public func appendImmediately(
      _ sampleBuffer: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>
    ) throws -> Bool {
      guard try writer.wantsMore(of: input) else { return false }
      guard sampleBuffer.withUnsafeSampleBuffer({ input.append($0) }) else { throw writer.reason }
      return true
    }

    /// No more samples will come.
    public func finish() { input.markAsFinished() }
  }

  /// Takes pictures for an input, without blocking a thread of Swift's.
  public final class PixelBufferReceiver: @unchecked Sendable {
    // Sendable: immutable; the adaptor's input has its own lock.
    private let adaptor: AVAssetWriterInputPixelBufferAdaptor
    private let writer: AVAssetWriter
    public let sourcePixelBufferAttributes: CVPixelBufferCreationAttributes?

    init(
      _ adaptor: AVAssetWriterInputPixelBufferAdaptor, of writer: AVAssetWriter,
      _ attributes: CVPixelBufferCreationAttributes?
    ) {
      self.adaptor = adaptor
      self.writer = writer
      sourcePixelBufferAttributes = attributes
      pixelBufferPool = attributes.flatMap { try? CVMutablePixelBuffer.Pool(pixelBufferAttributes: $0) }
    }

    /// Pixel buffers of the attributes that were given.
    public let pixelBufferPool: CVMutablePixelBuffer.Pool?

    /// Waits until the input wants more, then appends the picture.
    /// - Throws: `AVError` when the writing has failed or is not under way; `CancellationError`.
    public func append(_ pixelBuffer: CVReadOnlyPixelBuffer, with presentationTime: CMTime) async throws {
      while try !appendImmediately(pixelBuffer, with: presentationTime) {
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    /// Appends the picture if the input wants more.
    /// - Returns: False if it does not: the picture is not appended.
    /// - Throws: `AVError` when the writing has failed or is not under way.
    public func appendImmediately(
      _ pixelBuffer: CVReadOnlyPixelBuffer, with presentationTime: CMTime
    ) throws -> Bool {
      guard try writer.wantsMore(of: adaptor.assetWriterInput) else { return false }
      guard pixelBuffer.withUnsafeBuffer({ adaptor.append($0, withPresentationTime: presentationTime) })
      else {
        throw writer.reason
      }
      return true
    }

    /// No more pictures will come.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }
}

extension AVAssetWriter {
  /// Adds an input, and takes its samples, in one pass: a receiver does not ask for them again. With one that cannot be
  /// added the writer fails.
  public func inputReceiver(
    for input: AVAssetWriterInput
  ) -> sending AVAssetWriterInput.SampleBufferReceiver {
    input.performsMultiPassEncodingIfSupported = false
    add(input)
    return AVAssetWriterInput.SampleBufferReceiver(input, of: self)
  }

  /// Adds an input, and takes its pictures, in one pass: a receiver does not ask for them again. With one that cannot be
  /// added the writer fails.
  public func inputPixelBufferReceiver(
    for input: AVAssetWriterInput, pixelBufferAttributes: CVPixelBufferCreationAttributes? = nil
  ) -> sending AVAssetWriterInput.PixelBufferReceiver {
    let attributes = pixelBufferAttributes.map {
      $0.dictionary as? [String: Any] ?? [:]
    }
    let adaptor = AVAssetWriterInputPixelBufferAdaptor(
      assetWriterInput: input, sourcePixelBufferAttributes: attributes)
    input.performsMultiPassEncodingIfSupported = false
    add(input)
    return AVAssetWriterInput.PixelBufferReceiver(adaptor, of: self, pixelBufferAttributes)
  }

  /// Begins to write.
  /// - Throws: `AVError`, as `error` has it after `startWriting()`.
  public func start() throws {
    guard startWriting() else { throw reason }
  }

  /// Why something was not done.
  var reason: any Error {
    error ?? AVError(.operationNotAllowed, reason: "The writing is not under way.")
  }

  func wantsMore(of input: AVAssetWriterInput) throws -> Bool {
    guard status == .writing, !input.isFinished else { throw reason }
    // To append would wait for the encoder, on a thread of Swift's.
    return input.isReadyForMoreMediaData && input.encoder?.isBusy != true
  }
}
