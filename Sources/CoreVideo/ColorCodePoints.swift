import CoreFoundation

// Between Core Video's names of matrices, primaries and transfer functions and the code points of ISO/IEC 23091-2
// (H.273), which movies and bit streams carry. 2 stands for "not specified".

private let unspecified: Int32 = 2

/// The code point of a matrix, 2 if the string is nil or not one of `kCVImageBufferYCbCrMatrix_*`.
@discardableResult
public func CVYCbCrMatrixGetIntegerCodePointForString(_ yCbCrMatrixString: CFString?) -> Int32 {
  switch yCbCrMatrixString {
  case kCVImageBufferYCbCrMatrix_ITU_R_709_2: 1
  case kCVImageBufferYCbCrMatrix_ITU_R_601_4: 6
  case kCVImageBufferYCbCrMatrix_SMPTE_240M_1995: 7
  case kCVImageBufferYCbCrMatrix_ITU_R_2020: 9
  case kCVImageBufferYCbCrMatrix_DCI_P3: 11
  case kCVImageBufferYCbCrMatrix_P3_D65: 12
  default: unspecified
  }
}

/// The code point of primaries, 2 if the string is nil or not one of `kCVImageBufferColorPrimaries_*`.
@discardableResult
public func CVColorPrimariesGetIntegerCodePointForString(_ colorPrimariesString: CFString?) -> Int32 {
  switch colorPrimariesString {
  case kCVImageBufferColorPrimaries_ITU_R_709_2: 1
  case kCVImageBufferColorPrimaries_EBU_3213: 5
  case kCVImageBufferColorPrimaries_SMPTE_C: 6
  case kCVImageBufferColorPrimaries_ITU_R_2020: 9
  case kCVImageBufferColorPrimaries_DCI_P3: 11
  case kCVImageBufferColorPrimaries_P3_D65: 12
  case kCVImageBufferColorPrimaries_P22: 22
  default: unspecified
  }
}

/// The code point of a transfer function, 2 if the string is nil or not one of
/// `kCVImageBufferTransferFunction_*`.
@discardableResult
public func CVTransferFunctionGetIntegerCodePointForString(_ transferFunctionString: CFString?) -> Int32 {
  switch transferFunctionString {
  case kCVImageBufferTransferFunction_ITU_R_709_2: 1
  case kCVImageBufferTransferFunction_SMPTE_240M_1995: 7
  case kCVImageBufferTransferFunction_Linear: 8
  case kCVImageBufferTransferFunction_sRGB: 13
  case kCVImageBufferTransferFunction_ITU_R_2020: 14
  case kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ: 16
  case kCVImageBufferTransferFunction_SMPTE_ST_428_1: 17
  case kCVImageBufferTransferFunction_ITU_R_2100_HLG: 18
  default: unspecified
  }
}

/// The name of a matrix, nil if it has none.
@discardableResult
public func CVYCbCrMatrixGetStringForIntegerCodePoint(_ yCbCrMatrixCodePoint: Int32) -> Unmanaged<CFString>? {
  switch yCbCrMatrixCodePoint {
  case 1: unmanaged(kCVImageBufferYCbCrMatrix_ITU_R_709_2)
  case 5, 6: unmanaged(kCVImageBufferYCbCrMatrix_ITU_R_601_4)
  case 7: unmanaged(kCVImageBufferYCbCrMatrix_SMPTE_240M_1995)
  case 9: unmanaged(kCVImageBufferYCbCrMatrix_ITU_R_2020)
  case 11: unmanaged(kCVImageBufferYCbCrMatrix_DCI_P3)
  case 12: unmanaged(kCVImageBufferYCbCrMatrix_P3_D65)
  default: nil
  }
}

/// The name of primaries, nil if they have none.
@discardableResult
public func CVColorPrimariesGetStringForIntegerCodePoint(_ colorPrimariesCodePoint: Int32) -> Unmanaged<
  CFString
>? {
  switch colorPrimariesCodePoint {
  case 1: unmanaged(kCVImageBufferColorPrimaries_ITU_R_709_2)
  case 5: unmanaged(kCVImageBufferColorPrimaries_EBU_3213)
  case 6, 7: unmanaged(kCVImageBufferColorPrimaries_SMPTE_C)
  case 9: unmanaged(kCVImageBufferColorPrimaries_ITU_R_2020)
  case 11: unmanaged(kCVImageBufferColorPrimaries_DCI_P3)
  case 12: unmanaged(kCVImageBufferColorPrimaries_P3_D65)
  case 22: unmanaged(kCVImageBufferColorPrimaries_P22)
  default: nil
  }
}

/// The name of a transfer function, nil if it has none.
@discardableResult
public func CVTransferFunctionGetStringForIntegerCodePoint(
  _ transferFunctionCodePoint: Int32
) -> Unmanaged<CFString>? {
  switch transferFunctionCodePoint {
  // BT.601's and BT.709's curves are one.
  case 1, 6: unmanaged(kCVImageBufferTransferFunction_ITU_R_709_2)
  case 7: unmanaged(kCVImageBufferTransferFunction_SMPTE_240M_1995)
  case 8: unmanaged(kCVImageBufferTransferFunction_Linear)
  case 13: unmanaged(kCVImageBufferTransferFunction_sRGB)
  case 14, 15: unmanaged(kCVImageBufferTransferFunction_ITU_R_2020)
  case 16: unmanaged(kCVImageBufferTransferFunction_SMPTE_ST_2084_PQ)
  case 17: unmanaged(kCVImageBufferTransferFunction_SMPTE_ST_428_1)
  case 18: unmanaged(kCVImageBufferTransferFunction_ITU_R_2100_HLG)
  default: nil
  }
}

private func unmanaged(_ string: CFString) -> Unmanaged<CFString> { Unmanaged.passUnretained(string) }
