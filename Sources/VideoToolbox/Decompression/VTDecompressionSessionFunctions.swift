// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Creates a session that decompresses frames.
///
/// Of the parameters:
///
/// - `allocator`: not needed; memory is the runtime's.
/// - `formatDescription`: what the frames are.
/// - `decoderSpecification`: `kVTVideoDecoderSpecification_...` keys, or nil.
/// - `imageBufferAttributes`: what the images are to be, or nil. A pixel format, or several to choose from, and a
///   size are honoured by conversion; what is not named stays as the decoder gives it.
/// - `outputCallback`: called with each frame, or nil if each frame comes with a handler of its own.
/// - Returns: `kVTCouldNotFindVideoDecoderErr` if there is no decoder for the format or the specification;
///   `kVTVideoDecoderBadDataErr` if the format description's configuration record is damaged;
///   `kVTPixelTransferNotSupportedErr` for a pixel format that nothing can be converted to;
///   `kVTParameterErr`. The session is nil then.
@discardableResult
public func VTDecompressionSessionCreate(
  allocator: CFAllocator?, formatDescription videoFormatDescription: CMVideoFormatDescription,
  decoderSpecification videoDecoderSpecification: CFDictionary?,
  imageBufferAttributes destinationImageBufferAttributes: CFDictionary?,
  outputCallback: UnsafePointer<VTDecompressionOutputCallbackRecord>?,
  decompressionSessionOut: UnsafeMutablePointer<VTDecompressionSession?>
) -> OSStatus {
  decompressionSessionOut.pointee = nil
  let record = outputCallback?.pointee
  do throws(StatusError) {
    decompressionSessionOut.pointee = try VTDecompressionSession(
      videoFormatDescription, specification: videoDecoderSpecification,
      attributes: destinationImageBufferAttributes,
      callback: record.flatMap { record in
        record.decompressionOutputCallback.map { ($0, record.decompressionOutputRefCon) }
      })
    return noErr
  } catch {
    return error.status
  }
}

/// Creates a session whose frames each come with a handler of their own.
@discardableResult
public func VTDecompressionSessionCreate(
  allocator: CFAllocator?, formatDescription videoFormatDescription: CMVideoFormatDescription,
  decoderSpecification videoDecoderSpecification: CFDictionary?,
  imageBufferAttributes destinationImageBufferAttributes: CFDictionary?,
  decompressionSessionOut: UnsafeMutablePointer<VTDecompressionSession?>
) -> OSStatus {
  VTDecompressionSessionCreate(
    allocator: allocator, formatDescription: videoFormatDescription,
    decoderSpecification: videoDecoderSpecification, imageBufferAttributes: destinationImageBufferAttributes,
    outputCallback: nil, decompressionSessionOut: decompressionSessionOut)
}

/// Ends a session: frames that are under way are not given out any more, and every further call gives
/// `kVTInvalidSessionErr`.
public func VTDecompressionSessionInvalidate(_ session: VTDecompressionSession) { session.invalidate() }

/// The type identifier of decompression sessions.
@discardableResult
public func VTDecompressionSessionGetTypeID() -> CFTypeID { VTDecompressionSession.cfTypeID }

/// Decompresses a frame. The session's callback gets it.
///
/// Without a flag the frame has been given out when the call returns, in decode order. With
/// `_EnableAsynchronousDecompression` the call returns sooner, unless the session has as many frames waiting as it
/// takes. With `_EnableTemporalProcessing` frames come in order of presentation, and the last ones not before
/// `VTDecompressionSessionFinishDelayedFrames`.
///
/// Of the parameters:
///
/// - `sampleBuffer`: one frame or several. Its format description may be another than the session's if
///   `VTDecompressionSessionCanAcceptFormatDescription` says so.
/// - `sourceFrameRefCon`: handed to the callback.
/// - `infoFlagsOut`: receives what is known when the call returns.
/// - Returns: an error if the frame could not be taken, in which case the callback is not called. What is wrong with a
///   frame that was taken, the callback is told.
@discardableResult
public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  frameRefcon sourceFrameRefCon: UnsafeMutableRawPointer?,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?
) -> OSStatus {
  guard let output = session.output(frameRefcon: sourceFrameRefCon) else { return kVTParameterErr }
  return session.decode(sampleBuffer, decodeFlags, infoFlagsOut, output)
}

/// Decompresses a frame and hands it to a handler. For sessions without a callback.
@discardableResult
@preconcurrency public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
  outputHandler: @escaping VTDecompressionOutputHandler
) -> OSStatus {
  guard !session.hasCallback else { return kVTParameterErr }
  return session.decode(sampleBuffer, decodeFlags, infoFlagsOut, outputHandler)
}

/// Decompresses a frame, with options of its own, and hands it to the session's callback.
///
/// `frameOptions` are `kVTDecodeFrameOptionKey_ContentAnalyzerRotation` and the like, for decoders that have them; here
/// none has, and options are passed over.
@discardableResult
public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  frameOptions: CFDictionary?, frameRefcon sourceFrameRefCon: UnsafeMutableRawPointer?,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?
) -> OSStatus {
  VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sampleBuffer, flags: decodeFlags, frameRefcon: sourceFrameRefCon,
    infoFlagsOut: infoFlagsOut)
}

/// Decompresses a frame, with options of its own, and hands it to a handler. For sessions without a callback.
@discardableResult
@preconcurrency public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  frameOptions: CFDictionary?, infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
  outputHandler: @escaping VTDecompressionOutputHandler
) -> OSStatus {
  VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sampleBuffer, flags: decodeFlags, infoFlagsOut: infoFlagsOut,
    outputHandler: outputHandler)
}

/// Decompresses a frame that may hold several images, and hands it to a handler: no decoder here gives more than one, so
/// there are no tagged buffers. For sessions without a callback.
@discardableResult
@preconcurrency public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
  completionHandler:
    @escaping @Sendable (
      OSStatus, VTDecodeInfoFlags, CVImageBuffer?, [CMTaggedBuffer]?, CMTime, CMTime
    ) -> Void
) -> OSStatus {
  VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sampleBuffer, flags: decodeFlags, infoFlagsOut: infoFlagsOut
  ) { status, flags, image, time, duration in completionHandler(status, flags, image, nil, time, duration) }
}

/// Gives out all frames that were held back for the order of presentation.
@discardableResult
public func VTDecompressionSessionFinishDelayedFrames(_ session: VTDecompressionSession) -> OSStatus {
  session.finishDelayedFrames()
}

/// Whether the session can decompress frames of another format description.
@discardableResult
public func VTDecompressionSessionCanAcceptFormatDescription(
  _ session: VTDecompressionSession, formatDescription newFormatDesc: CMFormatDescription
) -> Bool {
  session.canAccept(newFormatDesc)
}

/// Waits until every frame has been given out, delayed ones too.
@discardableResult
public func VTDecompressionSessionWaitForAsynchronousFrames(_ session: VTDecompressionSession) -> OSStatus {
  session.waitForAsynchronousFrames()
}

/// A black image like those that the session gives out.
/// - Returns: `kVTParameterErr` if the format description does not say how large it is.
@discardableResult
public func VTDecompressionSessionCopyBlackPixelBuffer(
  _ session: VTDecompressionSession, pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> OSStatus {
  pixelBufferOut.pointee = nil
  do throws(StatusError) {
    pixelBufferOut.pointee = try session.blackPixelBuffer()
    return noErr
  } catch {
    return error.status
  }
}

/// Makes a decoder that the system has in reserve for a codec known to this process. There is none in reserve: all
/// decoders, those that a program has registered too, are known from the start.
public func VTRegisterSupplementalVideoDecoderIfAvailable(_ codecType: CMVideoCodecType) {}

/// Makes decoders for professional workflows known that are installed beside the system's. There are none here: a
/// program registers its own with `CodecRegistry`.
public func VTRegisterProfessionalVideoWorkflowVideoDecoders() {}

/// Makes encoders for professional workflows known that are installed beside the system's. There are none here.
public func VTRegisterProfessionalVideoWorkflowVideoEncoders() {}

/// Whether frames of a codec can be decoded by hardware: by a decoder that the program has registered, as the built-in
/// one runs on the processor, unless `CodecRegistry.countsAllAsHardware` says otherwise.
@discardableResult
public func VTIsHardwareDecodeSupported(_ codecType: CMVideoCodecType) -> Bool {
  DecoderCatalogue.all.contains { $0.isHardwareAccelerated && $0.supports(CodecType(rawValue: codecType)) }
}
