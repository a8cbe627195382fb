// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription.Extensions {
  /// The value of an extension.
  public struct Value: Equatable {
    /// Compares the contents, as `CFEqual` does.
    public static func == (a: Value, b: Value) -> Bool {
      CFEqual(a.propertyListRepresentation, b.propertyListRepresentation)
    }

    /// The value as it is stored in the dictionary.
    public var propertyListRepresentation: CFPropertyList

    public init(_ plist: CFPropertyList) { propertyListRepresentation = plist }

    /// A value for a number or a Boolean.
    public static func number<T: Numeric>(_ value: T) -> Value { Value(value as AnyObject) }
    /// A value for a string.
    public static func string(_ value: String) -> Value { Value(value as CFString) }
    /// A value for a string.
    public static func string(_ value: CFString) -> Value { Value(value) }

    /// A value for a clean aperture: the part of the picture that is presented, in pixels. The
    /// offsets are those of its centre from the centre of the picture.
    public static func cleanAperture<Width: Numeric, Height: Numeric, Horizontal: Numeric, Vertical: Numeric>(
      width: Width, height: Height, horizontalOffet: Horizontal, verticalOffset: Vertical
    ) -> Value {
      Value(
        [
          kCMFormatDescriptionKey_CleanApertureWidth: width as AnyObject,
          kCMFormatDescriptionKey_CleanApertureHeight: height as AnyObject,
          kCMFormatDescriptionKey_CleanApertureHorizontalOffset: horizontalOffet as AnyObject,
          kCMFormatDescriptionKey_CleanApertureVerticalOffset: verticalOffset as AnyObject,
        ] as NSDictionary)
    }

    /// A value for a clean aperture, the part of the picture that is presented, with fractions of
    /// pixels. The offsets are those of its centre from the centre of the picture.
    public static func cleanAperture(
      width: (numerator: Int, denominator: Int), height: (numerator: Int, denominator: Int),
      horizontalOffet: (numerator: Int, denominator: Int), verticalOffset: (numerator: Int, denominator: Int)
    ) -> Value {
      func pair(_ value: (numerator: Int, denominator: Int)) -> NSArray {
        [NSNumber(value: value.numerator), NSNumber(value: value.denominator)]
      }
      return Value(
        [
          kCMFormatDescriptionKey_CleanApertureWidthRational: pair(width),
          kCMFormatDescriptionKey_CleanApertureHeightRational: pair(height),
          kCMFormatDescriptionKey_CleanApertureHorizontalOffsetRational: pair(horizontalOffet),
          kCMFormatDescriptionKey_CleanApertureVerticalOffsetRational: pair(verticalOffset),
        ] as NSDictionary)
    }

    /// A value for the aspect ratio of a pixel. Only the quotient of the spacings matters.
    public static func pixelAspectRatio<Horizontal: Numeric, Vertical: Numeric>(
      horizontalSpacing: Horizontal, verticalSpacing: Vertical
    ) -> Value {
      Value(
        [
          kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: horizontalSpacing as AnyObject,
          kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: verticalSpacing as AnyObject,
        ] as NSDictionary)
    }
  }
}

extension CMFormatDescription.Extensions.Value {
  /// The order of the fields.
  public struct FieldDetail: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let temporalTopFirst = FieldDetail(
      rawValue: kCMFormatDescriptionFieldDetail_TemporalTopFirst)
    public static let temporalBottomFirst = FieldDetail(
      rawValue: kCMFormatDescriptionFieldDetail_TemporalBottomFirst)
    public static let spatialFirstLineEarly = FieldDetail(
      rawValue: kCMFormatDescriptionFieldDetail_SpatialFirstLineEarly)
    public static let spatialFirstLineLate = FieldDetail(
      rawValue: kCMFormatDescriptionFieldDetail_SpatialFirstLineLate)
  }

  public static func fieldDetail(_ fieldDetail: FieldDetail) -> Self { Self(fieldDetail.rawValue) }
}

extension CMFormatDescription.Extensions.Value {
  /// Colour primaries.
  public struct ColorPrimaries: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let itu_R_709_2 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_ITU_R_709_2)
    public static let ebu_3213 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_EBU_3213)
    public static let smpte_C = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_SMPTE_C)
    public static let dci_P3 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_DCI_P3)
    public static let p3_D65 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_P3_D65)
    public static let itu_R_2020 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_ITU_R_2020)
    public static let p22 = ColorPrimaries(rawValue: kCMFormatDescriptionColorPrimaries_P22)
  }

  public static func colorPrimaries(_ colorPrimaries: ColorPrimaries) -> Self {
    Self(colorPrimaries.rawValue)
  }
}

extension CMFormatDescription.Extensions.Value {
  /// Transfer functions.
  public struct TransferFunction: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let itu_R_709_2 = TransferFunction(
      rawValue: kCMFormatDescriptionTransferFunction_ITU_R_709_2)
    public static let smpte_240M_1995 = TransferFunction(
      rawValue: kCMFormatDescriptionTransferFunction_SMPTE_240M_1995)
    public static let useGamma = TransferFunction(rawValue: kCMFormatDescriptionTransferFunction_UseGamma)
    public static let itu_R_2020 = TransferFunction(rawValue: kCMFormatDescriptionTransferFunction_ITU_R_2020)
    public static let smpte_ST_428_1 = TransferFunction(
      rawValue: kCMFormatDescriptionTransferFunction_SMPTE_ST_428_1)
    public static let smpte_ST_2084_PQ = TransferFunction(
      rawValue: kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ)
    public static let itu_R_2100_HLG = TransferFunction(
      rawValue: kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG)
    public static let linear = TransferFunction(rawValue: kCMFormatDescriptionTransferFunction_Linear)
    public static let sRGB = TransferFunction(rawValue: kCMFormatDescriptionTransferFunction_sRGB)
  }

  public static func transferFunction(_ transferFunction: TransferFunction) -> Self {
    Self(transferFunction.rawValue)
  }
}

extension CMFormatDescription.Extensions.Value {
  /// Matrices between RGB and Y'CbCr.
  public struct YCbCrMatrix: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let itu_R_709_2 = YCbCrMatrix(rawValue: kCMFormatDescriptionYCbCrMatrix_ITU_R_709_2)
    public static let itu_R_601_4 = YCbCrMatrix(rawValue: kCMFormatDescriptionYCbCrMatrix_ITU_R_601_4)
    public static let smpted_240M_1995 = YCbCrMatrix(
      rawValue: kCMFormatDescriptionYCbCrMatrix_SMPTE_240M_1995)
    public static let itu_R_2020 = YCbCrMatrix(rawValue: kCMFormatDescriptionYCbCrMatrix_ITU_R_2020)
  }

  public static func yCbCrMatrix(_ yCbCrMatrix: YCbCrMatrix) -> Self { Self(yCbCrMatrix.rawValue) }
}

extension CMFormatDescription.Extensions.Value {
  /// The position of chroma samples relative to luma samples.
  public struct ChromaLocation: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let left = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_Left)
    public static let center = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_Center)
    public static let topLeft = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_TopLeft)
    public static let top = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_Top)
    public static let bottomLeft = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_BottomLeft)
    public static let bottom = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_Bottom)
    public static let dv420 = ChromaLocation(rawValue: kCMFormatDescriptionChromaLocation_DV420)
  }

  public static func chromaLocation(_ chromaLocation: ChromaLocation) -> Self {
    Self(chromaLocation.rawValue)
  }
}

extension CMFormatDescription.Extensions.Value {
  /// Whether colours are premultiplied by alpha.
  public struct AlphaChannelMode: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let straightAlpha = AlphaChannelMode(
      rawValue: kCMFormatDescriptionAlphaChannelMode_StraightAlpha)
    public static let premultipliedAlpha = AlphaChannelMode(
      rawValue: kCMFormatDescriptionAlphaChannelMode_PremultipliedAlpha)
  }

  public static func alphaChannelMode(_ alphaChannelMode: AlphaChannelMode) -> Self {
    Self(alphaChannelMode.rawValue)
  }
}

extension CMFormatDescription.Extensions.Value {
  /// The vendor of the compressor.
  public struct Vendor: RawRepresentable, Hashable, @unchecked Sendable {
    // Sendable: immutable; a CFString is.
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let apple = Vendor(rawValue: kCMFormatDescriptionVendor_Apple)
  }

  public static func vendor(_ vendor: Vendor) -> Self { Self(vendor.rawValue) }
}
