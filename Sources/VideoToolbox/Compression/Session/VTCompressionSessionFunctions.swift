// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Creates a session that compresses pictures.
///
/// The parameters that need an explanation:
///
/// - `allocator`: ignored.
/// - `width`: the width of the compressed pictures, in samples. Source buffers of another size are
///   scaled. An odd width is coded with one column more, which the format description's clean
///   aperture leaves out: streams of 4:2:0 have even sizes.
/// - `height`: the height of the compressed pictures, in samples; an odd one is treated like an odd
///   width.
/// - `codecType`: `kCMVideoCodecType_H264` or `kCMVideoCodecType_HEVC`.
/// - `encoderSpecification`: nil, or a dictionary of `kVTVideoEncoderSpecification_` keys.
/// - `imageBufferAttributes`: the attributes of the source buffers, for the session's pool; nil if
///   you do not need it.
/// - `compressedDataAllocator`: ignored.
/// - `outputCallback`: receives the frames; nil if frames are encoded with a handler for each.
/// - `refcon`: the callback's first argument.
/// - Returns: `kVTParameterErr` for a size that is not positive or arguments of a wrong type,
///   `kVTCouldNotFindVideoEncoderErr` if no encoder matches, `kVTVideoEncoderNotAvailableNowErr` if
///   all that match are in use, `kVTPixelTransferNotSupportedErr` if none of the source pixel
///   formats can be converted.
@discardableResult
@preconcurrency public func VTCompressionSessionCreate(
  allocator: CFAllocator?, width: Int32, height: Int32, codecType: CMVideoCodecType,
  encoderSpecification: CFDictionary?, imageBufferAttributes sourceImageBufferAttributes: CFDictionary?,
  compressedDataAllocator: CFAllocator?, outputCallback: VTCompressionOutputCallback?,
  refcon outputCallbackRefCon: UnsafeMutableRawPointer?,
  compressionSessionOut: UnsafeMutablePointer<VTCompressionSession?>
) -> OSStatus {
  compressionSessionOut.pointee = nil
  guard width > 0, height > 0 else { return kVTParameterErr }
  let fitting: [EncoderDescription]
  do throws(StatusError) {
    fitting = try EncoderCatalogue.fitting(
      codec: CodecType(rawValue: codecType), size: (Int(width), Int(height)),
      specification: encoderSpecification)
  } catch {
    return error.status
  }
  guard let attributes = SourceAttributes(sourceImageBufferAttributes) else {
    return kVTPixelTransferNotSupportedErr
  }
  for encoder in EncoderCatalogue.sorted(fitting, reading: attributes.pixelFormat) {
    guard let instance = EncoderInstance(of: encoder) else { continue }
    compressionSessionOut.pointee = VTCompressionSession(
      width: Int(width), height: Int(height), encoder: encoder, instance: instance,
      sourceAttributes: attributes,
      callback: outputCallback.map { ($0, outputCallbackRefCon) })
    return noErr
  }
  return kVTVideoEncoderNotAvailableNowErr
}

/// Ends a session. Pending frames are discarded: call `VTCompressionSessionCompleteFrames` first to
/// get them.
public func VTCompressionSessionInvalidate(_ session: VTCompressionSession) { session.invalidate() }

/// The type id of `VTCompressionSession`.
@discardableResult
public func VTCompressionSessionGetTypeID() -> CFTypeID { VTCompressionSession.cfTypeID }

/// Sets the encoder up before the first frame, so that this frame does not have to wait for it.
/// - Returns: `kVTParameterErr` if the properties contradict each other.
@discardableResult
public func VTCompressionSessionPrepareToEncodeFrames(_ session: VTCompressionSession) -> OSStatus {
  session.prepare()
}

/// Encodes a frame in a session with a callback.
///
/// The callback may run before or after this function returns. The function blocks while too many
/// frames are pending.
///
/// The parameters that need an explanation:
///
/// - `imageBuffer`: the picture. Do not change it until its result has come.
/// - `presentationTimeStamp`: greater than that of the frame before, and of the same epoch. Frames
///   may come from several threads; one that arrives after a frame with a later time is refused.
/// - `duration`: `.invalid` if unknown.
/// - `frameProperties`: nil, or a dictionary of `kVTEncodeFrameOptionKey_` keys.
/// - `sourceFrameRefcon`: the callback's second argument.
/// - `infoFlagsOut`: receives `.asynchronous`.
/// - Returns: `kVTParameterErr` for a time stamp that is not a number or does not increase, for a
///   duration with an epoch, for options of a wrong type, or if the session has no callback;
///   `kVTPixelTransferNotSupportedErr` for a pixel format that cannot be converted;
///   `kVTInvalidSessionErr` after the session was invalidated.
@discardableResult
public func VTCompressionSessionEncodeFrame(
  _ session: VTCompressionSession, imageBuffer: CVImageBuffer, presentationTimeStamp: CMTime,
  duration: CMTime,
  frameProperties: CFDictionary?, sourceFrameRefcon: UnsafeMutableRawPointer?,
  infoFlagsOut: UnsafeMutablePointer<VTEncodeInfoFlags>?
) -> OSStatus {
  infoFlagsOut?.pointee = []
  guard let output = session.output(frameRefcon: sourceFrameRefcon) else { return kVTParameterErr }
  let status = session.encode(
    imageBuffer, time: presentationTimeStamp, duration: duration, properties: frameProperties, output: output)
  if status == noErr { infoFlagsOut?.pointee = .asynchronous }
  return status
}

/// Encodes a frame in a session without a callback, and passes the result to a handler.
///
/// The parameters that need an explanation:
///
/// - `outputHandler`: receives the result.
/// - Returns: the errors of the form without a handler, but `kVTParameterErr` if the session has a
///   callback.
@discardableResult
@preconcurrency public func VTCompressionSessionEncodeFrame(
  _ session: VTCompressionSession, imageBuffer: CVImageBuffer, presentationTimeStamp: CMTime,
  duration: CMTime,
  frameProperties: CFDictionary?, infoFlagsOut: UnsafeMutablePointer<VTEncodeInfoFlags>?,
  outputHandler: @escaping VTCompressionOutputHandler
) -> OSStatus {
  infoFlagsOut?.pointee = []
  guard !session.hasCallback else { return kVTParameterErr }
  let status = session.encode(
    imageBuffer, time: presentationTimeStamp, duration: duration, properties: frameProperties,
    output: .handler(outputHandler))
  if status == noErr { infoFlagsOut?.pointee = .asynchronous }
  return status
}

/// Makes the encoder finish frames, and delivers their results before it returns.
///
/// The parameters that need an explanation:
///
/// - `completeUntilPresentationTimeStamp`: frames up to and including this time; all if it is not a
///   number.
/// - Returns: the encoder's error, `noErr`, or `kVTInvalidSessionErr` after the session was
///   invalidated. The errors of single frames go to their outputs.
@discardableResult
public func VTCompressionSessionCompleteFrames(
  _ session: VTCompressionSession, untilPresentationTimeStamp completeUntilPresentationTimeStamp: CMTime
) -> OSStatus {
  session.complete(until: completeUntilPresentationTimeStamp)
}

/// Starts a pass of a multi-pass encoding.
/// - Returns: `kVTParameterErr` without a `kVTCompressionPropertyKey_MultiPassStorage` or while a
///   pass is running; `kVTMultiPassStorageInvalidErr` if the storage was closed;
///   `kVTMultiPassStorageIdentifierMismatchErr` if it belongs to another encoder.
@discardableResult
public func VTCompressionSessionBeginPass(
  _ session: VTCompressionSession, flags beginPassFlags: VTCompressionSessionOptionFlags,
  _ reserved: UnsafeMutablePointer<UInt32>?
) -> OSStatus {
  session.beginPass(beginPassFlags)
}

/// Ends a pass, after the results of all its frames were delivered.
///
/// The parameters that need an explanation:
///
/// - `furtherPassesRequestedOut`: receives true if another pass would improve the result.
@discardableResult
public func VTCompressionSessionEndPass(
  _ session: VTCompressionSession, furtherPassesRequestedOut: UnsafeMutablePointer<DarwinBoolean>?,
  _ reserved: UnsafeMutablePointer<UInt32>?
) -> OSStatus {
  let result = session.endPass()
  furtherPassesRequestedOut?.pointee = DarwinBoolean(result.wantsMore)
  return result.status
}

/// Gets the parts of the movie to encode in the next pass: one range for all of it, from the first
/// frame's decode time on, so that `VTFrameSiloSetTimeRangesForNextPass` takes it; or, where
/// `kOVTCompressionPropertyKey_AllowsPartialPasses` is set, ranges of decode times whose new
/// encoding brings the movie nearer to its average bit rate.
///
/// The parameters that need an explanation:
///
/// - `timeRangeCountOut`: receives the number of ranges.
/// - `timeRangeArrayOut`: receives their address, valid until the next
///   `VTCompressionSessionEndPass`.
/// - Returns: `kVTParameterErr` if `VTCompressionSessionEndPass` did not ask for a further pass.
@discardableResult
public func VTCompressionSessionGetTimeRangesForNextPass(
  _ session: VTCompressionSession, timeRangeCountOut: UnsafeMutablePointer<CMItemCount>,
  timeRangeArrayOut: UnsafeMutablePointer<UnsafePointer<CMTimeRange>?>
) -> OSStatus {
  let result = session.timeRangesForNextPass()
  timeRangeCountOut.pointee = result.ranges?.count ?? 0
  timeRangeArrayOut.pointee = result.ranges?.baseAddress
  return result.status
}
