// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// What an input's output settings ask of an encoder.
struct VideoEncodingSettings: @unchecked Sendable {
  // Sendable: immutable property-list values.
  let codec: CMVideoCodecType
  let width: Int32
  let height: Int32
  let scalingMode: String
  /// In the order in which they are set; property list values.
  let properties: [(key: String, value: AnyObject)]
  let encoderSpecification: NSDictionary?
  /// Seconds that will be encoded, as far as is known; nil: nothing is. It decides how much an encoder may keep back for
  /// pictures to come: who does not know misses the rate of a movie of a few seconds.
  var expectedDuration: Double?

  /// Whether settings name a width or a height.
  static func haveSize(_ settings: [String: Any]) -> Bool {
    settings[AVVideoWidthKey] != nil || settings[AVVideoHeightKey] != nil
  }

  /// - Parameters:
  ///   - settings: The input's output settings.
  ///   - hint: What the source will be like: its stored dimensions are those of settings without a size.
  /// - Throws: `AVError(.unsupportedOutputSettings)` that names the key at fault.
  init(_ settings: [String: Any], hint: CMFormatDescription? = nil) throws {
    func complain(_ reason: String, _ advice: String) -> AVError {
      AVError(.unsupportedOutputSettings, reason: reason, advice: advice)
    }
    let name =
      (settings[AVVideoCodecKey] as? AVVideoCodecType)?.rawValue ?? settings[AVVideoCodecKey] as? String
    switch name {
    case AVVideoCodecType.h264.rawValue?: codec = kCMVideoCodecType_H264
    case AVVideoCodecType.hevc.rawValue?: codec = kCMVideoCodecType_HEVC
    case let other?:
      throw complain("The codec \(other) cannot be encoded.", "Use AVVideoCodecType.h264 or .hevc.")
    case nil: throw complain("AVVideoCodecKey is missing.", "Use AVVideoCodecType.h264 or .hevc.")
    }
    func side(_ key: String) throws -> Int32 {
      guard let number = settings[key] as? NSNumber, (1...65536).contains(number.doubleValue) else {
        throw complain("\(key) is missing or out of range.", "Give a width and height from 1 to 65536.")
      }
      return number.int32Value
    }
    if !Self.haveSize(settings), let hint, CMFormatDescriptionGetMediaType(hint) == kCMMediaType_Video {
      let source = CMVideoFormatDescriptionGetDimensions(hint)
      guard (1...65536).contains(source.width), (1...65536).contains(source.height) else {
        throw complain(
          "The source format hint has no size, or one out of range.",
          "Give a width and height from 1 to 65536.")
      }
      (width, height) = (source.width, source.height)
    } else {
      width = try side(AVVideoWidthKey)
      height = try side(AVVideoHeightKey)
    }
    scalingMode = settings[AVVideoScalingModeKey] as? String ?? AVVideoScalingModeResize
    guard
      [AVVideoScalingModeResize, AVVideoScalingModeResizeAspect, AVVideoScalingModeResizeAspectFill].contains(
        scalingMode)
    else {
      throw complain("The scaling mode \(scalingMode) is not supported.", "Use one of the resize modes.")
    }
    encoderSpecification = (settings[AVVideoEncoderSpecificationKey] as? [String: Any]).map {
      $0 as NSDictionary
    }

    let compression = settings[AVVideoCompressionPropertiesKey] as? [String: Any] ?? [:]
    var properties: [(key: String, value: AnyObject)] = []
    // These two may stand beside the compression properties or among them.
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
    for key in Self.hints {
      guard let value = compression[key] else { continue }
      guard value is NSNumber || value as AnyObject is NSNumber else {
        throw complain("\(key) is no number.", "Give a number, or leave the key out.")
      }
    }
    // The profile first: it decides what others may be.
    let order = compression.keys.sorted().sorted {
      $0 == AVVideoProfileLevelKey && $1 != AVVideoProfileLevelKey
    }
    for key in order where key != AVVideoPixelAspectRatioKey && key != AVVideoCleanApertureKey {
      properties.append((key, compression[key] as AnyObject))
    }
    self.properties = properties
  }

  /// What an encoder may do or leave, as it can: no encoder is wrong for them.
  static let hints: Set<String> = [
    AVVideoAverageNonDroppableFrameRateKey, AVVideoExpectedSourceFrameRateKey, AVVideoAllowFrameReorderingKey,
    kVTCompressionPropertyKey_AllowOpenGOP as String, kVTCompressionPropertyKey_BaseLayerFrameRate as String,
  ]

  /// A session with all properties set, which has not begun.
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
    // Not every encoder knows this one, and nobody has asked for it by name.
    _ = VTSessionSetProperty(
      made, key: kVTCompressionPropertyKey_RealTime, value: NSNumber(value: isRealTime))
    // Nor this: movies hold them all.
    _ = VTSessionSetProperty(
      made, key: kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets, value: kCFBooleanTrue)
    if let expectedDuration {
      // Before the settings, which may say something else.
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

  /// - Throws: `AVError` if the properties contradict each other, or the picture's size.
  static func prepare(_ session: VTCompressionSession) throws {
    let status = VTCompressionSessionPrepareToEncodeFrames(session)
    guard status == noErr else {
      throw AVError(
        .unsupportedOutputSettings, reason: "The encoder cannot be set up (\(status)).",
        advice: "Check that the profile and level allow the size of the picture.")
    }
  }

  /// A second pass is about how bits are shared out.
  /// - Returns: Bits a second; nil if the settings have no average bit rate.
  var averageRate: Double? {
    properties.first { $0.key == AVVideoAverageBitRateKey }.flatMap { ($0.value as? NSNumber)?.doubleValue }
  }

  /// What the encoder says against the settings, if anything.
  var encoderError: AVError? {
    do {
      let session = try makeSession(isRealTime: false, sourceAttributes: nil)
      defer { VTCompressionSessionInvalidate(session) }
      // What the settings come to together, the level and the size above all, is known to the encoder alone.
      try Self.prepare(session)
      return nil
    } catch { return AVError.writing(error) }
  }
}

/// An input's compression session.
final class VideoEncoding: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  typealias Output = @Sendable (Result<CMSampleBuffer, AVError>) -> Void

  private let session: VTCompressionSession
  private let settings: VideoEncodingSettings
  private let output: Output
  private let fitting: PictureFitting?
  private let lock = Lock()
  private var pendingCount = 0
  /// Nil where one pass is all.
  private let passes: EncodingPasses?
  /// Held while a pass ends: a program may end the input meanwhile.
  private let passLock = Lock()
  private var isInPass: Bool
  /// Called on the encoder's thread when a picture is done with.
  var onProgress: (@Sendable () -> Void)?

  /// - Parameters:
  ///   - isRealTime: Whether the source sets the pace.
  ///   - passes: For several passes, if the encoder makes them.
  ///   - output: Called with each encoded sample, in decode order, on the encoder's thread.
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

  /// Buffers that need no conversion, or such as the program has promised to append.
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

  /// Encodes a picture. Waits while the encoder has enough to do.
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
      } else if status != noErr {
        output(.failure(Self.error(status)))
      }
      onProgress?()
    }
    guard status == noErr else {
      lock.withLock { pendingCount -= 1 }
      throw Self.error(status)
    }
  }

  /// Whether the next picture would have to wait.
  var isBusy: Bool { session.isQueueFull }

  /// Whether the encoder looks at the pictures more than once.
  var makesPasses: Bool { passes != nil }

  /// Ends a pass, after every picture of it has come out.
  /// - Returns: What to encode again; nil after the last pass, when all samples have been put out.
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
      try putOut(passes)
      return nil
    }
  }

  private func putOut(_ passes: EncodingPasses) throws {
    isInPass = false
    try passes.forEach { output(.success($0)) }
  }

  /// Waits until every picture has come out.
  func complete() throws {
    if let passes {
      let isDone = try passLock.withLock {
        guard isInPass else { return false }
        // The program has had enough: what the passes gave is what there is.
        isInPass = false
        try passes.end(session)
        try putOut(passes)
        return true
      }
      if isDone { return }
    }
    let status = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    guard status == noErr else { throw Self.error(status) }
  }

  /// Drops what is under way.
  func invalidate() { VTCompressionSessionInvalidate(session) }

  private static func error(_ status: OSStatus) -> AVError {
    AVError(
      status == kVTAllocationFailedErr ? .outOfMemory : .encodeFailed,
      reason: "The encoder reported error \(status).",
      underlying: NSError(domain: NSOSStatusErrorDomain, code: Int(status)))
  }
}
