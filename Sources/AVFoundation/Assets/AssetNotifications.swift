// SPDX-License-Identifier: Apache-2.0
import Foundation

// Notifications of an `AVFragmentedAsset` and its tracks, posted when the file has grown while an
// `AVFragmentedAssetMinder` monitors it. Other assets do not change after the file has been opened.
// Notifications of chapters, media selection groups and track associations are never posted, since
// these are in the header, which does not change.

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
