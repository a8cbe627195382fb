// SPDX-License-Identifier: Apache-2.0
import Foundation

extension AVAssetWriterInput {
  /// Appends samples to an input from asynchronous code, without blocking a thread of Swift's
  /// cooperative pool.
  public final class SampleBufferReceiver: @unchecked Sendable {
    // Sendable: immutable; the input has its own lock.
    private let input: AVAssetWriterInput
    private let writer: AVAssetWriter

    init(_ input: AVAssetWriterInput, of writer: AVAssetWriter) {
      self.input = input
      self.writer = writer
    }

    /// Waits until the input is ready, then appends the sample.
    /// - Throws: `AVError` if the writing has failed or is not under way; `CancellationError` if
    ///   the task is cancelled.
    public func append(_ sampleBuffer: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>) async throws {
      while try !appendImmediately(sampleBuffer) { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Appends the sample if the input is ready.
    /// - Returns: False if the input is not ready; the sample is not appended then.
    /// - Throws: `AVError` if the writing has failed or is not under way.
    public func appendImmediately(
      _ sampleBuffer: CMReadySampleBuffer<CMSampleBuffer.DynamicContent>
    ) throws -> Bool {
      guard try writer.wantsMore(of: input) else { return false }
      guard sampleBuffer.withUnsafeSampleBuffer({ input.append($0) }) else { throw writer.reason }
      return true
    }

    /// Marks the input as finished.
    public func finish() { input.markAsFinished() }
  }

  /// Appends pixel buffers to an input from asynchronous code, without blocking a thread of Swift's
  /// cooperative pool.
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

    /// A pool of pixel buffers with the given attributes; nil without attributes.
    public let pixelBufferPool: CVMutablePixelBuffer.Pool?

    /// Waits until the input is ready, then appends the picture.
    /// - Throws: `AVError` if the writing has failed or is not under way; `CancellationError` if
    ///   the task is cancelled.
    public func append(_ pixelBuffer: CVReadOnlyPixelBuffer, with presentationTime: CMTime) async throws {
      while try !appendImmediately(pixelBuffer, with: presentationTime) {
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    /// Appends the picture if the input is ready.
    /// - Returns: False if the input is not ready; the picture is not appended then.
    /// - Throws: `AVError` if the writing has failed or is not under way.
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

    /// Marks the input as finished.
    public func finish() { adaptor.assetWriterInput.markAsFinished() }
  }
}

extension AVAssetWriter {
  /// Adds an input, and returns a receiver that appends samples to it. The input encodes in one
  /// pass, since a receiver has no means to ask for samples again. If the input cannot be added,
  /// the writer fails.
  public func inputReceiver(
    for input: AVAssetWriterInput
  ) -> sending AVAssetWriterInput.SampleBufferReceiver {
    input.performsMultiPassEncodingIfSupported = false
    add(input)
    return AVAssetWriterInput.SampleBufferReceiver(input, of: self)
  }

  /// Adds an input, and returns a receiver that appends pixel buffers to it. The input encodes in
  /// one pass, since a receiver has no means to ask for pictures again. If the input cannot be
  /// added, the writer fails.
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

  /// Starts the writing.
  /// - Throws: `AVError`, the one that `error` holds if `startWriting()` returns false.
  public func start() throws {
    guard startWriting() else { throw reason }
  }

  /// The error to throw when a sample has not been appended.
  var reason: any Error {
    error ?? AVError(.operationNotAllowed, reason: "The writing is not under way.")
  }

  func wantsMore(of input: AVAssetWriterInput) throws -> Bool {
    guard status == .writing, !input.isFinished else { throw reason }
    // If the encoder is busy, an append would block the calling thread, which belongs to Swift's
    // cooperative pool.
    return input.isReadyForMoreMediaData && input.encoder?.isBusy != true
  }
}
