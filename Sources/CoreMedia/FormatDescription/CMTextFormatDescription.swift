// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A description of text or subtitles.
public typealias CMTextFormatDescription = CMFormatDescription

/// The storage format of text, a four-character code.
public typealias CMTextFormatType = FourCharCode
public let kCMTextFormatType_QTText: CMTextFormatType = 0x74657874  // 'text'
public let kCMTextFormatType_3GText: CMTextFormatType = 0x74783367  // 'tx3g'

/// Flags for the display of text.
public typealias CMTextDisplayFlags = UInt32
public let kCMTextDisplayFlag_scrollIn: CMTextDisplayFlags = 0x0000_0020
public let kCMTextDisplayFlag_scrollOut: CMTextDisplayFlags = 0x0000_0040
public let kCMTextDisplayFlag_scrollDirectionMask: CMTextDisplayFlags = 0x0000_0180
public let kCMTextDisplayFlag_scrollDirection_bottomToTop: CMTextDisplayFlags = 0x0000_0000
public let kCMTextDisplayFlag_scrollDirection_rightToLeft: CMTextDisplayFlags = 0x0000_0080
public let kCMTextDisplayFlag_scrollDirection_topToBottom: CMTextDisplayFlags = 0x0000_0100
public let kCMTextDisplayFlag_scrollDirection_leftToRight: CMTextDisplayFlags = 0x0000_0180
public let kCMTextDisplayFlag_continuousKaraoke: CMTextDisplayFlags = 0x0000_0800
public let kCMTextDisplayFlag_writeTextVertically: CMTextDisplayFlags = 0x0002_0000
public let kCMTextDisplayFlag_fillTextRegion: CMTextDisplayFlags = 0x0004_0000
public let kCMTextDisplayFlag_obeySubtitleFormatting: CMTextDisplayFlags = 0x2000_0000
public let kCMTextDisplayFlag_forcedSubtitlesPresent: CMTextDisplayFlags = 0x4000_0000
public let kCMTextDisplayFlag_allSubtitlesForced: CMTextDisplayFlags = 0x8000_0000

/// The justification of text in its box.
public typealias CMTextJustificationValue = Int8
public let kCMTextJustification_left_top: CMTextJustificationValue = 0
public let kCMTextJustification_centered: CMTextJustificationValue = 1
public let kCMTextJustification_bottom_right: CMTextJustificationValue = -1

/// The display flags: `kCMTextDisplayFlag_*` (number).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_DisplayFlags: CFString = "DisplayFlags"
/// The background colour (dictionary).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_BackgroundColor: CFString = "BackgroundColor"
/// A component of a colour: 0 to 255 in 3GPP text, 0 to 65535 in QuickTime text.
nonisolated(unsafe) public let kCMTextFormatDescriptionColor_Red: CFString = "Red"
nonisolated(unsafe) public let kCMTextFormatDescriptionColor_Green: CFString = "Green"
nonisolated(unsafe) public let kCMTextFormatDescriptionColor_Blue: CFString = "Blue"
nonisolated(unsafe) public let kCMTextFormatDescriptionColor_Alpha: CFString = "Alpha"
/// The default box of text (dictionary).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_DefaultTextBox: CFString = "DefaultTextBox"
/// A side of a box in pixels; the origin is at the top left.
nonisolated(unsafe) public let kCMTextFormatDescriptionRect_Top: CFString = "Top"
nonisolated(unsafe) public let kCMTextFormatDescriptionRect_Left: CFString = "Left"
nonisolated(unsafe) public let kCMTextFormatDescriptionRect_Bottom: CFString = "Bottom"
nonisolated(unsafe) public let kCMTextFormatDescriptionRect_Right: CFString = "Right"
/// The default style of text (dictionary).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_DefaultStyle: CFString = "DefaultStyle"
/// The keys of a style: the first and the last character, a number in the font table, flags for
/// bold (1), italic (2) and underlined (4), a colour, and the size in pixels.
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_StartChar: CFString = "StartChar"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_EndChar: CFString = "EndChar"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_Font: CFString = "Font"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_FontFace: CFString = "FontFace"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_ForegroundColor: CFString = "ForegroundColor"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_FontSize: CFString = "FontSize"
/// The keys of a style of QuickTime text: the height of a line and its ascent above the baseline,
/// in pixels.
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_Height: CFString = "Height"
nonisolated(unsafe) public let kCMTextFormatDescriptionStyle_Ascent: CFString = "Ascent"
/// The horizontal justification of 3GPP text: `kCMTextJustification_*` (number).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_HorizontalJustification: CFString =
  "HorizontalJustification"
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_VerticalJustification: CFString =
  "VerticalJustification"
/// The justification of QuickTime text: `kCMTextJustification_*` (number).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_TextJustification: CFString =
  "TextJustification"
/// The names of fonts by number in decimal (dictionary).
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_FontTable: CFString = "FontTable"
/// The name of the default font of QuickTime text.
nonisolated(unsafe) public let kCMTextFormatDescriptionExtension_DefaultFontName: CFString = "DefaultFontName"

extension CMFormatDescription {
  fileprivate func textValue(_ key: CFString) throws -> Any {
    guard [kCMMediaType_Text, kCMMediaType_Subtitle].contains(mediaTypeCode) else {
      throw Error.invalidParameter
    }
    guard let value = extensionValue(key) else { throw Error.valueNotAvailable }
    return value
  }
  fileprivate func textNumber(_ key: CFString) throws -> NSNumber {
    guard let number = try textValue(key) as? NSNumber else { throw Error.valueNotAvailable }
    return number
  }
  fileprivate func textDictionary(_ key: CFString) throws -> NSDictionary {
    guard let dictionary = try textValue(key) as? NSDictionary else { throw Error.valueNotAvailable }
    return dictionary
  }

  /// Gets the display flags of text.
  /// - Throws: `CMFormatDescription.Error.valueNotAvailable` if the description does not contain
  ///   them, `.invalidParameter` for other media.
  public func displayFlags() throws -> CMTextDisplayFlags {
    try textNumber(kCMTextFormatDescriptionExtension_DisplayFlags).uint32Value
  }

  /// Gets the justification of text in its box. QuickTime text is always at the top.
  /// - Throws: `CMFormatDescription.Error.valueNotAvailable` if the description does not contain
  ///   it, `.invalidParameter` for other media.
  public func justification() throws -> (
    horizontal: CMTextJustificationValue, vertical: CMTextJustificationValue
  ) {
    if mediaSubTypeCode == kCMTextFormatType_QTText {
      return (
        try textNumber(kCMTextFormatDescriptionExtension_TextJustification).int8Value,
        kCMTextJustification_left_top
      )
    }
    return (
      try textNumber(kCMTextFormatDescriptionExtension_HorizontalJustification).int8Value,
      try textNumber(kCMTextFormatDescriptionExtension_VerticalJustification).int8Value
    )
  }

  /// Gets the default box of text, in pixels.
  ///
  /// - Parameters:
  ///   - originIsAtTopLeft: Whether the origin is at the top left; otherwise it is at the bottom
  ///     left.
  ///   - heightOfTextTrack: The height of the text track in pixels, which is needed for an origin
  ///     at the bottom left.
  /// - Throws: `CMFormatDescription.Error.valueNotAvailable` if the description does not contain
  ///   it, `.invalidParameter` for other media.
  public func defaultTextBox(originIsAtTopLeft: Bool, heightOfTextTrack: CGFloat) throws -> CGRect {
    let box = try textDictionary(kCMTextFormatDescriptionExtension_DefaultTextBox)
    func side(_ key: CFString) throws -> CGFloat {
      guard let number = box[key] as? NSNumber else { throw Error.valueNotAvailable }
      return CGFloat(number.doubleValue)
    }
    let top = try side(kCMTextFormatDescriptionRect_Top)
    let left = try side(kCMTextFormatDescriptionRect_Left)
    let bottom = try side(kCMTextFormatDescriptionRect_Bottom)
    let right = try side(kCMTextFormatDescriptionRect_Right)
    return CGRect(
      x: left, y: originIsAtTopLeft ? top : heightOfTextTrack - bottom, width: right - left,
      height: bottom - top)
  }

  /// Gets the default style of text. The components of the colour (red, green, blue and alpha)
  /// range from 0 to 1.
  /// - Throws: `CMFormatDescription.Error.valueNotAvailable` if the description does not contain
  ///   it, `.invalidParameter` for other media.
  public func defaultStyle() throws -> (
    localFontID: UInt16, bold: Bool, italic: Bool, underline: Bool, fontSize: CGFloat,
    colorComponents: [CGFloat]
  ) {
    let style = try textDictionary(kCMTextFormatDescriptionExtension_DefaultStyle)
    func number(_ key: CFString) -> NSNumber? { style[key] as? NSNumber }
    let face = number(kCMTextFormatDescriptionStyle_FontFace)?.intValue ?? 0
    let largest: CGFloat = mediaSubTypeCode == kCMTextFormatType_QTText ? 65535 : 255
    let color = style[kCMTextFormatDescriptionStyle_ForegroundColor] as? NSDictionary
    func part(_ key: CFString) -> CGFloat {
      (color?[key] as? NSNumber).map { CGFloat($0.doubleValue) / largest } ?? 1
    }
    return (
      number(kCMTextFormatDescriptionStyle_Font)?.uint16Value ?? 0, face & 1 != 0, face & 2 != 0,
      face & 4 != 0, CGFloat(number(kCMTextFormatDescriptionStyle_FontSize)?.doubleValue ?? 0),
      [
        part(kCMTextFormatDescriptionColor_Red), part(kCMTextFormatDescriptionColor_Green),
        part(kCMTextFormatDescriptionColor_Blue), part(kCMTextFormatDescriptionColor_Alpha),
      ]
    )
  }

  /// Gets the name of a font of the text's font table.
  /// - Throws: `CMFormatDescription.Error.valueNotAvailable` if there is none, `.invalidParameter`
  ///   for other media.
  public func fontName(localFontID: UInt16) throws -> String {
    if mediaSubTypeCode == kCMTextFormatType_QTText {
      if let name = try textValue(kCMTextFormatDescriptionExtension_DefaultFontName) as? String {
        return name
      }
    }
    let table = try textDictionary(kCMTextFormatDescriptionExtension_FontTable)
    guard let name = table["\(localFontID)" as NSString] as? String else { throw Error.valueNotAvailable }
    return name
  }

  fileprivate static func status(_ body: () throws -> Void) -> OSStatus {
    do {
      try body()
      return noErr
    } catch { return OSStatus(truncatingIfNeeded: (error as NSError).code) }
  }
}

/// Gets the display flags of text; see `CMFormatDescription.displayFlags()`.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description does not have them.
@discardableResult
public func CMTextFormatDescriptionGetDisplayFlags(
  _ desc: CMFormatDescription, displayFlagsOut: UnsafeMutablePointer<CMTextDisplayFlags>
) -> OSStatus {
  CMFormatDescription.status { displayFlagsOut.pointee = try desc.displayFlags() }
}

/// Gets the justification of text in its box; see `CMFormatDescription.justification()`.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description does not have it.
@discardableResult
public func CMTextFormatDescriptionGetJustification(
  _ desc: CMFormatDescription,
  horizontalOut horizontaJustificationlOut: UnsafeMutablePointer<CMTextJustificationValue>?,
  verticalOut verticalJustificationOut: UnsafeMutablePointer<CMTextJustificationValue>?
) -> OSStatus {
  CMFormatDescription.status {
    let value = try desc.justification()
    horizontaJustificationlOut?.pointee = value.horizontal
    verticalJustificationOut?.pointee = value.vertical
  }
}

/// Gets the default box of text in pixels; see
/// `CMFormatDescription.defaultTextBox(originIsAtTopLeft:heightOfTextTrack:)`.
@discardableResult
public func CMTextFormatDescriptionGetDefaultTextBox(
  _ desc: CMFormatDescription, originIsAtTopLeft: Bool, heightOfTextTrack: CGFloat,
  defaultTextBoxOut: UnsafeMutablePointer<CGRect>
) -> OSStatus {
  CMFormatDescription.status {
    defaultTextBoxOut.pointee = try desc.defaultTextBox(
      originIsAtTopLeft: originIsAtTopLeft, heightOfTextTrack: heightOfTextTrack)
  }
}

/// Gets the default style of text; see `CMFormatDescription.defaultStyle()`. `colorComponentsOut`
/// must have room for four numbers: red, green, blue and alpha, from 0 to 1.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if the description does not have it.
@discardableResult
public func CMTextFormatDescriptionGetDefaultStyle(
  _ desc: CMFormatDescription, localFontIDOut: UnsafeMutablePointer<UInt16>?,
  boldOut: UnsafeMutablePointer<DarwinBoolean>?, italicOut: UnsafeMutablePointer<DarwinBoolean>?,
  underlineOut: UnsafeMutablePointer<DarwinBoolean>?, fontSizeOut: UnsafeMutablePointer<CGFloat>?,
  colorComponentsOut: UnsafeMutablePointer<CGFloat>?
) -> OSStatus {
  CMFormatDescription.status {
    let style = try desc.defaultStyle()
    localFontIDOut?.pointee = style.localFontID
    boldOut?.pointee = DarwinBoolean(style.bold)
    italicOut?.pointee = DarwinBoolean(style.italic)
    underlineOut?.pointee = DarwinBoolean(style.underline)
    fontSizeOut?.pointee = style.fontSize
    for (index, part) in style.colorComponents.enumerated() { colorComponentsOut?[index] = part }
  }
}

/// Gets the name of a font; see `CMFormatDescription.fontName(localFontID:)`.
/// - Returns: `kCMFormatDescriptionError_ValueNotAvailable` if there is none.
@discardableResult
public func CMTextFormatDescriptionGetFontName(
  _ desc: CMFormatDescription, localFontID: UInt16, fontNameOut: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  fontNameOut.pointee = nil
  return CMFormatDescription.status {
    fontNameOut.pointee = try desc.fontName(localFontID: localFontID) as CFString
  }
}
