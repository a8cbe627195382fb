// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// Creates a session that decompresses frames.
///
/// The parameters that need an explanation:
///
/// - `allocator`: ignored.
/// - `formatDescription`: the format of the frames.
/// - `decoderSpecification`: `kVTVideoDecoderSpecification_...` keys, or nil.
/// - `imageBufferAttributes`: attributes of the image buffers, or nil. A pixel format, or several
///   to choose from, and a size are met by conversion; where they are not named, images keep the
///   decoder's.
/// - `outputCallback`: called with each frame, or nil if each frame is submitted with a handler of
///   its own.
/// - Returns: `kVTCouldNotFindVideoDecoderErr` if there is no decoder for the format or the
///   specification; `kVTVideoDecoderBadDataErr` if the format description's configuration record is
///   damaged; `kVTPixelTransferNotSupportedErr` if images cannot be converted to any of the named
///   pixel formats; `kVTParameterErr` for arguments of a wrong type. The session is nil then.
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

/// Creates a session without a callback: each frame is submitted with a handler of its own.
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

/// Ends a session. Frames that are being decoded are discarded, and every further call returns
/// `kVTInvalidSessionErr`.
public func VTDecompressionSessionInvalidate(_ session: VTDecompressionSession) { session.invalidate() }

/// The type identifier of decompression sessions.
@discardableResult
public func VTDecompressionSessionGetTypeID() -> CFTypeID { VTDecompressionSession.cfTypeID }

/// Decompresses a frame and passes the image to the session's callback.
///
/// Without a flag the callback has been called when this function returns; frames come in decode
/// order. With `_EnableAsynchronousDecompression` the function returns earlier, unless the session
/// has as many frames waiting as it takes. With `_EnableTemporalProcessing` frames come in
/// presentation order, and the last ones only after `VTDecompressionSessionFinishDelayedFrames`.
///
/// The parameters that need an explanation:
///
/// - `sampleBuffer`: one frame or several. Its format description may differ from the session's if
///   `VTDecompressionSessionCanAcceptFormatDescription` returns true for it.
/// - `sourceFrameRefCon`: passed to the callback.
/// - `infoFlagsOut`: receives what is known about the frame when the function returns.
/// - Returns: an error if the frame was not accepted, in which case the callback is not called. The
///   error of a frame that was accepted is passed to the callback.
@discardableResult
public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  frameRefcon sourceFrameRefCon: UnsafeMutableRawPointer?,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?
) -> OSStatus {
  guard let output = session.output(frameRefcon: sourceFrameRefCon) else { return kVTParameterErr }
  return session.decode(sampleBuffer, decodeFlags, infoFlagsOut, output)
}

/// Decompresses a frame and passes the image to a handler, in a session without a callback.
@discardableResult
@preconcurrency public func VTDecompressionSessionDecodeFrame(
  _ session: VTDecompressionSession, sampleBuffer: CMSampleBuffer, flags decodeFlags: VTDecodeFrameFlags,
  infoFlagsOut: UnsafeMutablePointer<VTDecodeInfoFlags>?,
  outputHandler: @escaping VTDecompressionOutputHandler
) -> OSStatus {
  guard !session.hasCallback else { return kVTParameterErr }
  return session.decode(sampleBuffer, decodeFlags, infoFlagsOut, outputHandler)
}

/// Decompresses a frame, with options for this frame, and passes the image to the session's
/// callback.
///
/// `frameOptions` holds `kVTDecodeFrameOptionKey_ContentAnalyzerRotation` and similar keys, for
/// decoders that support them. No decoder of this package does, so that options are ignored.
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

/// Decompresses a frame, with options for this frame, and passes the image to a handler, in a
/// session without a callback.
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

/// Decompresses a frame that may hold several images, and passes them to a handler, in a session
/// without a callback. No decoder of this package returns more than one image per frame, so the
/// array of tagged buffers is always nil.
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

/// Delivers all frames that the decoder holds in order to put frames into presentation order.
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

/// Waits until every frame has been delivered, including delayed ones.
@discardableResult
public func VTDecompressionSessionWaitForAsynchronousFrames(_ session: VTDecompressionSession) -> OSStatus {
  session.waitForAsynchronousFrames()
}

/// Creates a black image with the size, the pixel format and the attachments of the session's
/// images.
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

/// Makes a supplemental decoder of the system available to this process. There are none on this
/// platform: all decoders, including those that a program has registered, are available from the
/// start.
public func VTRegisterSupplementalVideoDecoderIfAvailable(_ codecType: CMVideoCodecType) {}

/// Makes decoders for professional workflows, which are installed separately, available to this
/// process. There are none on this platform: a program registers its own with `CodecRegistry`.
public func VTRegisterProfessionalVideoWorkflowVideoDecoders() {}

/// Makes encoders for professional workflows, which are installed separately, available to this
/// process. There are none on this platform.
public func VTRegisterProfessionalVideoWorkflowVideoEncoders() {}

/// Whether frames of a codec can be decoded by hardware: by a decoder that the program has
/// registered as such. The built-in decoder runs on the processor; it counts as hardware only with
/// `CodecRegistry.countsAllAsHardware`.
@discardableResult
public func VTIsHardwareDecodeSupported(_ codecType: CMVideoCodecType) -> Bool {
  DecoderCatalogue.all.contains { $0.isHardwareAccelerated && $0.supports(CodecType(rawValue: codecType)) }
}
