// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVImageBufferGetEncodedSize(_ imageBuffer: OpaquePointer?) -> C_CGSize {
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else { return C_CGSize() }
  return ToC.value(CoreVideo.CVImageBufferGetEncodedSize(imageBuffer))
}

@c @implementation
public func CVImageBufferGetDisplaySize(_ imageBuffer: OpaquePointer?) -> C_CGSize {
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else { return C_CGSize() }
  return ToC.value(CoreVideo.CVImageBufferGetDisplaySize(imageBuffer))
}

@c @implementation
public func CVImageBufferGetCleanRect(_ imageBuffer: OpaquePointer?) -> C_CGRect {
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else { return C_CGRect() }
  return ToC.value(CoreVideo.CVImageBufferGetCleanRect(imageBuffer))
}

@c @implementation
public func CVImageBufferIsFlipped(_ imageBuffer: OpaquePointer?) -> UInt8 {
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVImageBufferIsFlipped(imageBuffer) ? 1 : 0
}

@c @implementation
public func CVYCbCrMatrixGetIntegerCodePointForString(_ yCbCrMatrixString: OpaquePointer?) -> Int32 {
  guard let yCbCrMatrixString = FromC.optionalObject(yCbCrMatrixString, NSString.self) else { return 0 }
  return CoreVideo.CVYCbCrMatrixGetIntegerCodePointForString(yCbCrMatrixString)
}

@c @implementation
public func CVColorPrimariesGetIntegerCodePointForString(_ colorPrimariesString: OpaquePointer?) -> Int32 {
  guard let colorPrimariesString = FromC.optionalObject(colorPrimariesString, NSString.self) else { return 0 }
  return CoreVideo.CVColorPrimariesGetIntegerCodePointForString(colorPrimariesString)
}

@c @implementation
public func CVTransferFunctionGetIntegerCodePointForString(_ transferFunctionString: OpaquePointer?) -> Int32
{
  guard let transferFunctionString = FromC.optionalObject(transferFunctionString, NSString.self) else {
    return 0
  }
  return CoreVideo.CVTransferFunctionGetIntegerCodePointForString(transferFunctionString)
}

@c @implementation
public func CVYCbCrMatrixGetStringForIntegerCodePoint(_ yCbCrMatrixCodePoint: Int32) -> OpaquePointer? {
  ToC.unretained(
    CoreVideo.CVYCbCrMatrixGetStringForIntegerCodePoint(yCbCrMatrixCodePoint)?.takeUnretainedValue())
}

@c @implementation
public func CVColorPrimariesGetStringForIntegerCodePoint(_ colorPrimariesCodePoint: Int32) -> OpaquePointer? {
  ToC.unretained(
    CoreVideo.CVColorPrimariesGetStringForIntegerCodePoint(colorPrimariesCodePoint)?.takeUnretainedValue())
}

@c @implementation
public func CVTransferFunctionGetStringForIntegerCodePoint(_ transferFunctionCodePoint: Int32)
  -> OpaquePointer?
{
  ToC.unretained(
    CoreVideo.CVTransferFunctionGetStringForIntegerCodePoint(transferFunctionCodePoint)?.takeUnretainedValue()
  )
}
