// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import CoreMedia

/// A profile and a level, parsed from a `kVTProfileLevel_` constant.
struct ProfileLevel: Sendable {
  let profile: CodecProfile
  /// Ten times the level number (41 is level 4.1); nil lets the encoder choose the level.
  let level: Int?

  /// The constants of all profiles and levels that this package knows for a codec, its own
  /// included.
  static func names(for codec: CodecType) -> [String] {
    if codec == .hevc {
      return [kVTProfileLevel_HEVC_Main_AutoLevel, kVTProfileLevel_HEVC_Main10_AutoLevel].map { $0 as String }
    }
    guard codec == .h264 else { return [] }
    return [
      kVTProfileLevel_H264_Baseline_1_3, kVTProfileLevel_H264_Baseline_3_0, kVTProfileLevel_H264_Baseline_3_1,
      kVTProfileLevel_H264_Baseline_3_2, kVTProfileLevel_H264_Baseline_4_0, kVTProfileLevel_H264_Baseline_4_1,
      kVTProfileLevel_H264_Baseline_4_2, kVTProfileLevel_H264_Baseline_5_0, kVTProfileLevel_H264_Baseline_5_1,
      kVTProfileLevel_H264_Baseline_5_2, kVTProfileLevel_H264_Baseline_AutoLevel,
      kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel,
      kVTProfileLevel_H264_Main_3_0, kVTProfileLevel_H264_Main_3_1, kVTProfileLevel_H264_Main_3_2,
      kVTProfileLevel_H264_Main_4_0, kVTProfileLevel_H264_Main_4_1, kVTProfileLevel_H264_Main_4_2,
      kVTProfileLevel_H264_Main_5_0, kVTProfileLevel_H264_Main_5_1, kVTProfileLevel_H264_Main_5_2,
      kVTProfileLevel_H264_Main_AutoLevel,
      kVTProfileLevel_H264_Extended_5_0, kVTProfileLevel_H264_Extended_AutoLevel,
      kVTProfileLevel_H264_High_3_0, kVTProfileLevel_H264_High_3_1, kVTProfileLevel_H264_High_3_2,
      kVTProfileLevel_H264_High_4_0, kVTProfileLevel_H264_High_4_1, kVTProfileLevel_H264_High_4_2,
      kVTProfileLevel_H264_High_5_0, kVTProfileLevel_H264_High_5_1, kVTProfileLevel_H264_High_5_2,
      kVTProfileLevel_H264_High_AutoLevel, kVTProfileLevel_H264_ConstrainedHigh_AutoLevel,
      kOVTProfileLevel_H264_High444Predictive_AutoLevel,
    ].map { $0 as String }
  }

  /// The constants whose profile the encoder supports.
  static func names(for encoder: EncoderDescription) -> [String] {
    guard let profiles = encoder.profiles else { return names(for: encoder.codec) }
    return names(for: encoder.codec).filter { name in
      ProfileLevel(name).map { profiles.contains($0.profile) } ?? false
    }
  }

  /// Parses a name of codec, profile and level, such as "H264_High_4_1" or "HEVC_Main_AutoLevel";
  /// nil for an unknown one.
  init?(_ name: String) {
    let parts = name.split(separator: "_")
    guard parts.count >= 3 else { return nil }
    switch (parts[0], parts[1]) {
    case ("H264", "Baseline"): profile = .h264Baseline
    case ("H264", "ConstrainedBaseline"): profile = .h264ConstrainedBaseline
    case ("H264", "Main"): profile = .h264Main
    case ("H264", "Extended"): profile = .h264Extended
    case ("H264", "High"): profile = .h264High
    case ("H264", "ConstrainedHigh"): profile = .h264ConstrainedHigh
    case ("H264", "High444Predictive"): profile = .h264High444Predictive
    case ("HEVC", "Main"): profile = .hevcMain
    case ("HEVC", "Main10"): profile = .hevcMain10
    default: return nil
    }
    if parts[2] == "AutoLevel" {
      level = nil
    } else if parts.count == 4, let major = Int(parts[2]), let minor = Int(parts[3]) {
      level = major * 10 + minor
    } else {
      return nil
    }
  }
}
