// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia
import FFmpegMedia

/// Called with the outcome of each frame.
///
/// The arguments are the session's refcon; the frame's refcon; `noErr` or the frame's error; flags
/// that say, for example, whether the frame was dropped; the image, which is nil if there was an
/// error or the frame was dropped; its presentation time stamp; and its duration.
public typealias VTDecompressionOutputCallback =
  @Sendable (
    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, OSStatus, VTDecodeInfoFlags, CVImageBuffer?, CMTime,
    CMTime
  ) -> Void

/// Called with the outcome of one frame. The arguments are `noErr` or the frame's error; flags that
/// say, for example, whether the frame was dropped; the image, which is nil if there was an error
/// or the frame was dropped; its presentation time stamp; and its duration.
public typealias VTDecompressionOutputHandler =
  @Sendable (OSStatus, VTDecodeInfoFlags, CVImageBuffer?, CMTime, CMTime) -> Void

/// A callback and its refcon.
public struct VTDecompressionOutputCallbackRecord {
  @preconcurrency public var decompressionOutputCallback: VTDecompressionOutputCallback?
  public var decompressionOutputRefCon: UnsafeMutableRawPointer?

  public init() {}

  @preconcurrency public init(
    decompressionOutputCallback: VTDecompressionOutputCallback?,
    decompressionOutputRefCon: UnsafeMutableRawPointer?
  ) {
    self.decompressionOutputCallback = decompressionOutputCallback
    self.decompressionOutputRefCon = decompressionOutputRefCon
  }
}

/// Decompresses a sequence of frames. Its functions may be called from any thread.
public final class VTDecompressionSession: PropertySession, CFRuntimeObject, @unchecked Sendable, Hashable {
  // Sendable: `lock` guards what changes.
  package static let cfTypeID = CFRuntimeRegister("VTDecompressionSession")

  private let callback: (VTDecompressionOutputCallback, UnsafeMutableRawPointer?)?
  private let decoder: DecoderDescription
  private let pipeline: DecompressionPipeline
  private let lock = Lock()
  private var store = PropertyStore(DecompressionProperties.table)
  /// The options of a session for a reader of AVFoundation, which apply where the corresponding
  /// property was not set; nil for other sessions.
  private let options: DecompressionOptions?
  private var settings: DecompressionSettings
  private var format: StreamFormat
  private var isInvalid = false

  init(
    _ description: CMVideoFormatDescription, specification: CFDictionary?, attributes: CFDictionary?,
    callback: (VTDecompressionOutputCallback, UnsafeMutableRawPointer?)?, options: DecompressionOptions? = nil
  ) throws(StatusError) {
    guard CMFormatDescriptionGetMediaType(description) == kCMMediaType_Video else {
      throw StatusError(kVTParameterErr)
    }
    let format = StreamFormat(description)
    let decoder = try DecoderCatalogue.choose(format, specification: specification)
    var configuration = VideoDecoderConfiguration(
      codec: format.codec, width: max(0, format.width), height: max(0, format.height),
      configurationRecord: format.record)
    configuration.isLowDelay = true
    configuration.formatDescription = description
    let output = try OutputAttributes(attributes)
    let settings = DecompressionProperties.settings(store, options)
    do {
      pipeline = try DecompressionPipeline(
        format, configuration, output, settings, isForReader: options != nil,
        makeDecoder: decoder.makeDecoder)
    } catch {
      throw StatusError(DecompressionPipeline.status(error))
    }
    self.format = format
    self.decoder = decoder
    self.callback = callback
    self.options = options
    self.settings = settings
  }

  deinit { pipeline.stop() }

  public static func == (a: VTDecompressionSession, b: VTDecompressionSession) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  // MARK: - Frames

  var hasCallback: Bool { callback != nil }

  /// The handler of a frame that calls the session's callback; nil if the session has none.
  func output(frameRefcon: UnsafeMutableRawPointer?) -> VTDecompressionOutputHandler? {
    guard let (callback, refcon) = callback else { return nil }
    nonisolated(unsafe) let refcons = (refcon, frameRefcon)
    return { status, flags, image, time, duration in
      callback(refcons.0, refcons.1, status, flags, image, time, duration)
    }
  }

  func decode(
    _ sample: CMSampleBuffer, _ flags: VTDecodeFrameFlags,
    _ infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
    _ handler: @escaping VTDecompressionOutputHandler
  ) -> OSStatus {
    infoFlagsOut?.pointee = []
    guard CMSampleBufferIsValid(sample) else { return kVTParameterErr }
    if !CMSampleBufferDataIsReady(sample) {
      let status = CMSampleBufferMakeDataReady(sample)
      guard status == noErr else { return status }
    }
    let count = CMSampleBufferGetNumSamples(sample)
    guard count > 0, let data = CMSampleBufferGetDataBuffer(sample) else { return kVTParameterErr }
    guard count > 1 else { return decodeOne(sample, flags, infoFlagsOut, handler) }
    // Each frame has at least one byte.
    guard count <= CMBlockBufferGetDataLength(data) else { return kVTParameterErr }
    return CMSampleBufferCallBlockForEachSample(sample) { part, _ in
      guard CMSampleBufferGetDataBuffer(part).map({ CMBlockBufferGetDataLength($0) > 0 }) ?? false else {
        return kVTParameterErr
      }
      return decodeOne(part, flags, infoFlagsOut, handler)
    }
  }

  private func decodeOne(
    _ sample: CMSampleBuffer, _ flags: VTDecodeFrameFlags,
    _ infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
    _ handler: @escaping VTDecompressionOutputHandler
  ) -> OSStatus {
    let (status, frameFormat, settings) = lock.withLock {
      () -> (OSStatus, StreamFormat?, DecompressionSettings) in
      if isInvalid { return (kVTInvalidSessionErr, nil, self.settings) }
      guard let description = CMSampleBufferGetFormatDescription(sample) else {
        return (noErr, nil, self.settings)
      }
      if description === format.description { return (noErr, format, self.settings) }
      let next = StreamFormat(description)
      guard format.canBecome(next, anyDimensions: self.settings.image.allowsOtherDimensions) else {
        return (kVTFormatDescriptionChangeNotSupportedErr, nil, self.settings)
      }
      format = next
      return (noErr, next, self.settings)
    }
    guard status == noErr else { return status }
    let time = CMSampleBufferGetOutputPresentationTimeStamp(sample)
    let duration = CMSampleBufferGetOutputDuration(sample)
    let frame = DecompressionFrame(
      sample: sample, presentationTime: CMSampleBufferGetPresentationTimeStamp(sample), flags: flags,
      format: frameFormat
    ) { status, flags, image in handler(status, flags, image, time, duration) }
    guard let info = pipeline.submit(frame, settings) else { return kVTInvalidSessionErr }
    infoFlagsOut?.pointee = info
    return noErr
  }

  func finishDelayedFrames() -> OSStatus {
    if lock.withLock({ isInvalid }) { return kVTInvalidSessionErr }
    pipeline.finish()
    return noErr
  }

  func waitForAsynchronousFrames() -> OSStatus {
    if lock.withLock({ isInvalid }) { return kVTInvalidSessionErr }
    pipeline.wait()
    return noErr
  }

  func canAccept(_ description: CMFormatDescription) -> Bool {
    let next = StreamFormat(description)
    guard CMFormatDescriptionGetMediaType(description) == kCMMediaType_Video else { return false }
    return lock.withLock {
      !isInvalid && format.canBecome(next, anyDimensions: settings.image.allowsOtherDimensions)
    }
  }

  func blackPixelBuffer() throws(StatusError) -> CVPixelBuffer {
    if lock.withLock({ isInvalid }) { throw StatusError(kVTInvalidSessionErr) }
    let result = pipeline.properties { output, _ in
      do throws(StatusError) {
        return Result<CVPixelBuffer, StatusError>.success(try output.blackPicture())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  func invalidate() {
    lock.withLock { isInvalid = true }
    // Also where another call was first: each caller may free what the callbacks use when its own
    // call returns.
    pipeline.stop()
  }

  // MARK: - Properties

  private var state: DecompressionState {
    DecompressionState(format: format, decoder: decoder, pipeline: pipeline)
  }

  func setProperty(_ key: String, to value: AnyObject?) -> OSStatus {
    lock.withLock {
      if isInvalid { return kVTInvalidSessionErr }
      let status = store.set(key, to: value, state)
      if status == noErr {
        let generation = settings.generation
        settings = DecompressionProperties.settings(store, options)
        settings.generation = generation + 1
      }
      return status
    }
  }

  func copyProperty(_ key: String) -> (status: OSStatus, value: AnyObject?) {
    // Read without the lock: the pipeline may wait for a callback, which may call the session.
    let (isInvalid, store, state) = snapshot()
    if isInvalid { return (kVTInvalidSessionErr, nil) }
    return store.copy(key, state)
  }

  func copySupportedProperties() -> (status: OSStatus, properties: [String: [String: Any]]) {
    let (isInvalid, store, state) = snapshot()
    return isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, store.supported(state))
  }

  func copySerializableProperties() -> (status: OSStatus, properties: [String: Any]) {
    let (isInvalid, store, state) = snapshot()
    return isInvalid ? (kVTInvalidSessionErr, [:]) : (noErr, store.serializable(state))
  }

  private func snapshot() -> (Bool, PropertyStore<DecompressionState>, DecompressionState) {
    lock.withLock {
      return (isInvalid, store, state)
    }
  }

  var propertyOrder: [String] { DecompressionProperties.table.map(\.key) }
}
