// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// The encoder settings that an input's output settings contain.
struct VideoEncodingSettings: @unchecked Sendable {
  // Sendable: immutable property-list values.
  let codec: CMVideoCodecType
  let width: Int32
  let height: Int32
  let scalingMode: String
  /// Properties and their values, which are property-list values, in the order in which they are
  /// set.
  let properties: [(key: String, value: AnyObject)]
  let encoderSpecification: NSDictionary?
  /// The expected duration of the source in seconds, or nil if it is unknown. Encoders with an
  /// average bit rate need it to decide how many bits to reserve for the pictures to come. Without
  /// it they miss the rate of movies of a few seconds.
  var expectedDuration: Double?

  /// Whether the settings have a width or a height.
  static func haveSize(_ settings: [String: Any]) -> Bool {
    settings[AVVideoWidthKey] != nil || settings[AVVideoHeightKey] != nil
  }

  /// Reads the settings.
  /// - Parameters:
  ///   - settings: The input's output settings.
  ///   - hint: The format of the source, if known. Its dimensions are used if the settings have no
  ///     size.
  /// - Throws: `AVError(.unsupportedOutputSettings)`, whose reason names the key at fault.
  init(_ settings: [String: Any], hint: CMFormatDescription? = nil) throws {
    codec = try Self.codec(settings)
    (width, height) = try Self.size(settings, hint: hint)
    scalingMode = settings[AVVideoScalingModeKey] as? String ?? AVVideoScalingModeResize
    guard
      [AVVideoScalingModeResize, AVVideoScalingModeResizeAspect, AVVideoScalingModeResizeAspectFill].contains(
        scalingMode)
    else {
      throw Self.configurationError(
        "The scaling mode \(scalingMode) is not supported.", "Use one of the resize modes.")
    }
    encoderSpecification = (settings[AVVideoEncoderSpecificationKey] as? [String: Any]).map {
      $0 as NSDictionary
    }
    properties = try Self.properties(settings)
  }

  private static func configurationError(_ reason: String, _ advice: String) -> AVError {
    AVError(.unsupportedOutputSettings, reason: reason, advice: advice)
  }

  private static func codec(_ settings: [String: Any]) throws -> CMVideoCodecType {
    let name =
      (settings[AVVideoCodecKey] as? AVVideoCodecType)?.rawValue ?? settings[AVVideoCodecKey] as? String
    switch name {
    case AVVideoCodecType.h264.rawValue?: return kCMVideoCodecType_H264
    case AVVideoCodecType.hevc.rawValue?: return kCMVideoCodecType_HEVC
    case let other?:
      throw configurationError("The codec \(other) cannot be encoded.", "Use AVVideoCodecType.h264 or .hevc.")
    case nil: throw configurationError("AVVideoCodecKey is missing.", "Use AVVideoCodecType.h264 or .hevc.")
    }
  }

  /// The size in the settings, or that of the source if they have none.
  private static func size(
    _ settings: [String: Any], hint: CMFormatDescription?
  ) throws -> (width: Int32, height: Int32) {
    func side(_ key: String) throws -> Int32 {
      guard let number = settings[key] as? NSNumber, (1...65536).contains(number.doubleValue) else {
        throw configurationError(
          "\(key) is missing or out of range.", "Give a width and height from 1 to 65536.")
      }
      return number.int32Value
    }
    guard !haveSize(settings), let hint, CMFormatDescriptionGetMediaType(hint) == kCMMediaType_Video else {
      return (try side(AVVideoWidthKey), try side(AVVideoHeightKey))
    }
    let source = CMVideoFormatDescriptionGetDimensions(hint)
    guard (1...65536).contains(source.width), (1...65536).contains(source.height) else {
      throw configurationError(
        "The source format hint has no size, or one out of range.",
        "Give a width and height from 1 to 65536.")
    }
    return (source.width, source.height)
  }

  /// The properties of the compression session, in the order in which they are set.
  private static func properties(_ settings: [String: Any]) throws -> [(key: String, value: AnyObject)] {
    let compression = settings[AVVideoCompressionPropertiesKey] as? [String: Any] ?? [:]
    var properties: [(key: String, value: AnyObject)] = []
    // Programs may put these two among the compression properties or in addition to them.
    if let aspect = (settings[AVVideoPixelAspectRatioKey] ?? compression[AVVideoPixelAspectRatioKey])
      as? [String: Any]
    {
      properties.append((kVTCompressionPropertyKey_PixelAspectRatio as String, aspect as NSDictionary))
    }
    if let aperture = (settings[AVVideoCleanApertureKey] ?? compression[AVVideoCleanApertureKey])
      as? [String: Any]
    {
      properties.append((kVTCompressionPropertyKey_CleanAperture as String, aperture as NSDictionary))
    }
    if let color = settings[AVVideoColorPropertiesKey] as? [String: Any] {
      for (key, property) in [
        (AVVideoColorPrimariesKey, kVTCompressionPropertyKey_ColorPrimaries),
        (AVVideoTransferFunctionKey, kVTCompressionPropertyKey_TransferFunction),
        (AVVideoYCbCrMatrixKey, kVTCompressionPropertyKey_YCbCrMatrix),
      ] {
        if let value = color[key] as? String { properties.append((property as String, value as NSString)) }
      }
    }
    for key in hints {
      guard let value = compression[key] else { continue }
      guard value is NSNumber || value as AnyObject is NSNumber else {
        throw configurationError("\(key) is not a number.", "Give a number, or omit the key.")
      }
    }
    // The profile is set first, because the values that other properties allow depend on it.
    let order = compression.keys.sorted().sorted {
      $0 == AVVideoProfileLevelKey && $1 != AVVideoProfileLevelKey
    }
    for key in order where key != AVVideoPixelAspectRatioKey && key != AVVideoCleanApertureKey {
      properties.append((key, compression[key] as AnyObject))
    }
    return properties
  }

  /// Properties that are hints: an encoder that does not support them is used without them.
  static let hints: Set<String> = [
    AVVideoAverageNonDroppableFrameRateKey, AVVideoExpectedSourceFrameRateKey, AVVideoAllowFrameReorderingKey,
    kOVTCompressionPropertyKey_ThreadCount as String, kVTCompressionPropertyKey_AllowOpenGOP as String,
    kVTCompressionPropertyKey_BaseLayerFrameRate as String,
  ]

  /// Creates a session and sets all its properties, without preparing it.
  /// - Throws: `AVError` if there is no encoder or it does not take a property.
  func makeSession(isRealTime: Bool, sourceAttributes: NSDictionary?) throws -> VTCompressionSession {
    var made: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: kCFAllocatorDefault, width: width, height: height, codecType: codec,
      encoderSpecification: encoderSpecification, imageBufferAttributes: sourceAttributes,
      compressedDataAllocator: nil, outputCallback: nil, refcon: nil, compressionSessionOut: &made)
    guard status == noErr, let made else {
      throw AVError(
        status == kVTCouldNotFindVideoEncoderErr ? .encoderNotFound : .unsupportedOutputSettings,
        reason: "No encoder can be made for pictures of \(width)x\(height) (\(status)).",
        advice:
          "Choose another codec, size or encoder specification. Pictures of H.264 have 139264 macroblocks of "
          + "16x16 at most, and no more than 1055 in a row or a column (level 6.2).")
    }
    // The program has not asked for this property, so encoders that do not support it are used
    // without it.
    _ = VTSessionSetProperty(
      made, key: kVTCompressionPropertyKey_RealTime, value: NSNumber(value: isRealTime))
    // The same holds for this one. A movie can hold several picture parameter sets.
    _ = VTSessionSetProperty(
      made, key: kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets, value: kCFBooleanTrue)
    if let expectedDuration {
      // Set before the properties of the settings, which may contain another duration.
      _ = VTSessionSetProperty(
        made, key: kVTCompressionPropertyKey_ExpectedDuration, value: NSNumber(value: expectedDuration))
    }
    for (key, value) in properties {
      let status = VTSessionSetProperty(made, key: key as NSString, value: value)
      guard status == noErr || status == kVTPropertyNotSupportedErr && Self.hints.contains(key) else {
        VTCompressionSessionInvalidate(made)
        throw AVError(
          .unsupportedOutputSettings, reason: "The encoder does not take \(key) = \(value) (\(status)).",
          advice: "Remove the setting, or give a value that the encoder supports.")
      }
    }
    return made
  }

  /// Prepares a session.
  /// - Throws: `AVError` if properties contradict each other or the size of the picture.
  static func prepare(_ session: VTCompressionSession) throws {
    let status = VTCompressionSessionPrepareToEncodeFrames(session)
    guard status == noErr else {
      throw AVError(
        .unsupportedOutputSettings, reason: "The encoder cannot be set up (\(status)).",
        advice: "Check that the profile and level allow the size of the picture.")
    }
  }

  /// The average bit rate in bits per second, or nil if the settings have none. Further passes are
  /// only useful with an average bit rate, whose distribution they improve.
  var averageRate: Double? {
    properties.first { $0.key == AVVideoAverageBitRateKey }.flatMap { ($0.value as? NSNumber)?.doubleValue }
  }

  /// The error with which the encoder rejects the settings, or nil if it takes them.
  var encoderError: AVError? {
    do {
      let session = try makeSession(isRealTime: false, sourceAttributes: nil)
      defer { VTCompressionSessionInvalidate(session) }
      // Only the encoder knows whether the settings fit together, above all the level and the size.
      try Self.prepare(session)
      return nil
    } catch { return AVError.writing(error) }
  }
}

/// The compression session of an input.
final class VideoInputSession: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  typealias Output = @Sendable (Result<CMSampleBuffer, AVError>) -> Void

  private let session: VTCompressionSession
  private let settings: VideoEncodingSettings
  private let output: Output
  private let fitting: PictureFitting?
  private let lock = Lock()
  private var pendingCount = 0
  /// Nil if there is a single pass.
  private let passes: EncodingPasses?
  /// Held while a pass ends, since the program may mark the input as finished at the same time.
  private let passLock = Lock()
  private var isInPass: Bool
  /// Called on the encoder's thread when the encoder has finished a picture.
  var onProgress: (@Sendable () -> Void)?

  /// Creates and prepares a session.
  /// - Parameters:
  ///   - settings: The settings of the encoder.
  ///   - isRealTime: Whether the source determines the pace.
  ///   - sourceAttributes: Core Video's attributes of the pictures that will be appended, if known.
  ///   - wanted: The storage for several passes, which are made if the encoder supports them; nil
  ///     for one pass.
  ///   - output: Called with each encoded sample, in decode order, on the encoder's thread; after
  ///     several passes, on the thread that ends the last one.
  /// - Throws: `AVError` if there is no encoder or it does not take a property.
  init(
    _ settings: VideoEncodingSettings, isRealTime: Bool, sourceAttributes: NSDictionary?,
    passes wanted: EncodingPasses? = nil, output: @escaping Output
  ) throws {
    self.settings = settings
    self.output = output
    fitting =
      settings.scalingMode == AVVideoScalingModeResize
      ? nil
      : PictureFitting(
        width: Int(settings.width), height: Int(settings.height),
        fills: settings.scalingMode == AVVideoScalingModeResizeAspectFill)
    let made = try settings.makeSession(isRealTime: isRealTime, sourceAttributes: sourceAttributes)
    session = made
    pixelBufferPool = Self.makePool(settings, sourceAttributes)
    passes = wanted.flatMap { $0.attach(to: made) ? $0 : nil }
    isInPass = passes != nil
    if let passes {
      try passes.begin(made)
      return
    }
    do { try VideoEncodingSettings.prepare(made) } catch {
      VTCompressionSessionInvalidate(made)
      throw error
    }
  }

  deinit { VTCompressionSessionInvalidate(session) }

  /// A pool of buffers with the attributes that the program has declared. Attributes that it has
  /// not declared have values that the encoder takes without a conversion.
  let pixelBufferPool: CVPixelBufferPool?

  private static func makePool(_ settings: VideoEncodingSettings, _ attributes: NSDictionary?)
    -> CVPixelBufferPool?
  {
    let wanted = NSMutableDictionary(dictionary: attributes as? [AnyHashable: Any] ?? [:])
    func fill(_ key: CFString, _ number: NSNumber) {
      if wanted.object(forKey: key) == nil { wanted.setObject(number, forKey: key) }
    }
    fill(kCVPixelBufferPixelFormatTypeKey, NSNumber(value: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    fill(kCVPixelBufferWidthKey, NSNumber(value: settings.width))
    fill(kCVPixelBufferHeightKey, NSNumber(value: settings.height))
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, wanted, &pool)
    return pool
  }

  /// Encodes a picture. May wait while the encoder's queue is full.
  func encode(_ image: CVImageBuffer, time: CMTime, duration: CMTime, forceKeyFrame: Bool) throws {
    if let passes, !passes.wants(time) { return }
    var image = image
    if let fitting { image = try fitting.fit(image) }
    let properties: NSDictionary? =
      forceKeyFrame ? [kVTEncodeFrameOptionKey_ForceKeyFrame: NSNumber(value: true)] as NSDictionary : nil
    lock.withLock { pendingCount += 1 }
    let status = VTCompressionSessionEncodeFrame(
      session, imageBuffer: image, presentationTimeStamp: time, duration: duration,
      frameProperties: properties,
      infoFlagsOut: nil
    ) { [self] status, flags, sample in
      lock.withLock { pendingCount -= 1 }
      if let sample, status == noErr {
        if let passes {
          if let error = passes.add(sample) { output(.failure(error)) }
        } else {
          output(.success(sample))
        }
      } else if status != noErr, passes?.failPart() != true {
        output(.failure(Self.error(status)))
      }
      onProgress?()
    }
    guard status == noErr else {
      lock.withLock { pendingCount -= 1 }
      throw Self.error(status)
    }
  }

  /// Whether encoding another picture would have to wait for the encoder.
  var isBusy: Bool { session.isQueueFull }

  /// Whether the encoder makes several passes.
  var makesPasses: Bool { passes != nil }

  /// Ends a pass when all its pictures have been encoded.
  /// - Returns: Ranges of presentation times to encode again; nil after the last pass, when all
  ///   samples have been passed to `output`.
  func endPass() throws -> [CMTimeRange]? {
    guard let passes else { return nil }
    return try passLock.withLock {
      guard isInPass else { return nil }
      do {
        if let ranges = try passes.next(session) { return ranges }
      } catch {
        isInPass = false
        throw error
      }
      try writeResult(passes)
      return nil
    }
  }

  private func writeResult(_ passes: EncodingPasses) throws {
    isInPass = false
    try passes.forEach { output(.success($0)) }
  }

  /// Waits until all pictures have been encoded and passed to `output`.
  func complete() throws {
    if let passes {
      let isDone = try passLock.withLock {
        guard isInPass else { return false }
        // The program has ended the input during a pass. The samples of the complete passes are
        // used.
        isInPass = false
        try passes.end(session)
        try writeResult(passes)
        return true
      }
      if isDone { return }
    }
    let status = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    guard status == noErr else { throw Self.error(status) }
  }

  /// Ends the session. Pictures that are being encoded are dropped.
  func invalidate() { VTCompressionSessionInvalidate(session) }

  private static func error(_ status: OSStatus) -> AVError {
    AVError(
      status == kVTAllocationFailedErr ? .outOfMemory : .encodeFailed,
      reason: "The encoder reported error \(status).",
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
  }
}
