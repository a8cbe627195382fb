// SPDX-License-Identifier: Apache-2.0
import Foundation

// Posted by an `AVFragmentedAsset` and its tracks, whose file grows while an `AVFragmentedAssetMinder` follows it. Another
// asset is what its file was when it was opened. Chapters, groups of alternatives and associations are told in the header,
// which does not change: their notifications are never posted.

extension NSNotification.Name {
  public static let AVAssetDurationDidChange = NSNotification.Name("AVAssetDurationDidChangeNotification")
  public static let AVAssetContainsFragmentsDidChange = NSNotification.Name(
    "AVAssetContainsFragmentsDidChangeNotification")
  public static let AVAssetWasDefragmented = NSNotification.Name("AVAssetWasDefragmentedNotification")
  public static let AVAssetChapterMetadataGroupsDidChange = NSNotification.Name(
    "AVAssetChapterMetadataGroupsDidChangeNotification")
  public static let AVAssetMediaSelectionGroupsDidChange = NSNotification.Name(
    "AVAssetMediaSelectionGroupsDidChangeNotification")
  public static let AVAssetTrackTimeRangeDidChange = NSNotification.Name(
    "AVAssetTrackTimeRangeDidChangeNotification")
  public static let AVAssetTrackSegmentsDidChange = NSNotification.Name(
    "AVAssetTrackSegmentsDidChangeNotification")
  public static let AVAssetTrackTrackAssociationsDidChange = NSNotification.Name(
    "AVAssetTrackTrackAssociationsDidChangeNotification")
}
