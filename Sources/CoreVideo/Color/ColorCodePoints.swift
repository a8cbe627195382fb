// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

// Conversions between Core Video's names of matrices, primaries and transfer functions and the code
// points of ISO/IEC 23091-2 (ITU-T H.273), which movies and bit streams carry. 2 means
// "unspecified".

/// The code point of a matrix, 2 if the string is nil or not one of `kCVImageBufferYCbCrMatrix_*`.
@discardableResult
public func CVYCbCrMatrixGetIntegerCodePointForString(_ yCbCrMatrixString: CFString?) -> Int32 {
  code(of: yCbCrMatrixString, in: .matrices)
}

/// The code point of primaries, 2 if the string is nil or not one of
/// `kCVImageBufferColorPrimaries_*`.
@discardableResult
public func CVColorPrimariesGetIntegerCodePointForString(_ colorPrimariesString: CFString?) -> Int32 {
  code(of: colorPrimariesString, in: .primaries)
}

/// The code point of a transfer function, 2 if the string is nil or not one of
/// `kCVImageBufferTransferFunction_*`.
@discardableResult
public func CVTransferFunctionGetIntegerCodePointForString(_ transferFunctionString: CFString?) -> Int32 {
  code(of: transferFunctionString, in: .transferFunctions)
}

/// The name of a matrix, nil if it has none.
@discardableResult
public func CVYCbCrMatrixGetStringForIntegerCodePoint(_ yCbCrMatrixCodePoint: Int32) -> Unmanaged<CFString>? {
  name(of: yCbCrMatrixCodePoint, in: .matrices)
}

/// The name of primaries, nil if they have none.
@discardableResult
public func CVColorPrimariesGetStringForIntegerCodePoint(_ colorPrimariesCodePoint: Int32) -> Unmanaged<
  CFString
>? {
  name(of: colorPrimariesCodePoint, in: .primaries)
}

/// The name of a transfer function, nil if it has none.
@discardableResult
public func CVTransferFunctionGetStringForIntegerCodePoint(
  _ transferFunctionCodePoint: Int32
) -> Unmanaged<CFString>? {
  name(of: transferFunctionCodePoint, in: .transferFunctions)
}

private func code(of name: CFString?, in table: ColorCodePoints) -> Int32 {
  Int32(name.flatMap { table.code(of: $0 as String) } ?? Int(ColorDescription.unspecified))
}

/// The constants by their values. They are never released, as callers do not own what these
/// functions return.
private nonisolated(unsafe) let constants: [String: CFString] = {
  let all: [CFString] = [
    kCVImageBufferColorPrimaries_ITU_R_709_2, kCVImageBufferColorPrimaries_EBU_3213,
    kCVImageBufferColorPrimaries_SMPTE_C, kCVImageBufferColorPrimaries_P22,
    kCVImageBufferColorPrimaries_DCI_P3, kCVImageBufferColorPrimaries_P3_D65,
    kCVImageBufferColorPrimaries_ITU_R_2020, kCVImageBufferYCbCrMatrix_ITU_R_601_4,
    kCVImageBufferTransferFunction_SMPTE_240M_1995, kCVImageBufferTransferFunction_sRGB,
    kCVImageBufferTransferFunction_SMPTE_ST_428_1, kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ,
    kCVImageBufferTransferFunction_ITU_R_2100_HLG, kCVImageBufferTransferFunction_Linear,
  ]
  return Dictionary(all.map { ($0 as String, $0) }, uniquingKeysWith: { first, _ in first })
}()

private func name(of code: Int32, in table: ColorCodePoints) -> Unmanaged<CFString>? {
  table.name(of: Int(code)).flatMap { constants[$0] }.map(Unmanaged.passUnretained)
}
