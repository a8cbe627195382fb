// SPDX-License-Identifier: Apache-2.0

// The user data of ISO base media files (3GPP TS 26.244, clause 8).

extension AVMetadataKey {
  public static let isoUserDataKeyCopyright = AVMetadataKey(rawValue: "cprt")
  public static let metadata3GPUserDataKeyTitle = AVMetadataKey(rawValue: "titl")
  public static let metadata3GPUserDataKeyAuthor = AVMetadataKey(rawValue: "auth")
  public static let metadata3GPUserDataKeyPerformer = AVMetadataKey(rawValue: "perf")
  public static let metadata3GPUserDataKeyGenre = AVMetadataKey(rawValue: "gnre")
  public static let metadata3GPUserDataKeyDescription = AVMetadataKey(rawValue: "dscp")
}

extension AVMetadataIdentifier {
  public static let isoUserDataCopyright = AVMetadataIdentifier(rawValue: "uiso/cprt")
  public static let identifier3GPUserDataTitle = AVMetadataIdentifier(rawValue: "uiso/titl")
  public static let identifier3GPUserDataAuthor = AVMetadataIdentifier(rawValue: "uiso/auth")
  public static let identifier3GPUserDataPerformer = AVMetadataIdentifier(rawValue: "uiso/perf")
  public static let identifier3GPUserDataGenre = AVMetadataIdentifier(rawValue: "uiso/gnre")
  public static let identifier3GPUserDataDescription = AVMetadataIdentifier(rawValue: "uiso/dscp")
}
