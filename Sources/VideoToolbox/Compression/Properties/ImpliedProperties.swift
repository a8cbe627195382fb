// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Properties that an encoder does not have, with the values that describe what it does anyway.
// Setting such a value is not an error: programs set `AllowFrameReordering` to false for every
// encoder, including those that never reorder.

extension CompressionSettings {
  /// Whether an encoder without this property does what the value asks for.
  static func isImplied(_ key: String, _ object: AnyObject) -> Bool {
    implied[key].map { type, value in type.parse(object) == value } ?? false
  }

  private static let implied: [String: (PropertyType, PropertyValue)] = Dictionary(
    uniqueKeysWithValues: entries.map { ($0 as String, ($1, $2)) })

  private static var entries: [(CFString, PropertyType, PropertyValue)] {
    [
      (kVTCompressionPropertyKey_AllowFrameReordering, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_AllowOpenGOP, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_EnableLTR, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_BaseLayerFrameRateFraction, .number(0...1), .number(1)),
      (kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, .integer(0...250), .number(0)),
      (kVTCompressionPropertyKey_MaxH264SliceBytes, .integer(0...Int(Int32.max)), .number(0)),
      (kVTCompressionPropertyKey_DataRateLimits, .numbers, .numbers([])),
      (kVTCompressionPropertyKey_CalculateMeanSquaredError, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_MaximizePowerEfficiency, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_SourceFrameCount, .integer(0...Int(Int32.max)), .number(0)),
      (kVTCompressionPropertyKey_ExpectedDuration, .number(0...1e9), .number(0)),
      (kVTCompressionPropertyKey_MoreFramesBeforeStart, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_MoreFramesAfterEnd, .boolean, .boolean(false)),
      // Every picture is a progressive frame, without alpha and with 8 or 10 bits, depending on the
      // profile.
      (kVTCompressionPropertyKey_FieldCount, .integer(1...2), .number(1)),
      (kVTCompressionPropertyKey_ProgressiveScan, .boolean, .boolean(true)),
      (kVTCompressionPropertyKey_AspectRatio16x9, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_Depth, .integer(0...64), .number(24)),
      (kVTCompressionPropertyKey_PreserveAlphaChannel, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_PreserveDynamicHDRMetadata, .boolean, .boolean(false)),
      (
        kVTCompressionPropertyKey_HDRMetadataInsertionMode, .text,
        .text(kVTHDRMetadataInsertionMode_None as String)
      ),
      (kVTCompressionPropertyKey_HasLeftStereoEyeView, .boolean, .boolean(false)),
      (kVTCompressionPropertyKey_HasRightStereoEyeView, .boolean, .boolean(false)),
    ]
  }
}
