// SPDX-License-Identifier: Apache-2.0

// QuickTime metadata, whose keys are names (QuickTime File Format, "QuickTime metadata keys").

extension AVMetadataKey {
  public static let quickTimeMetadataKeyAuthor = AVMetadataKey(rawValue: "com.apple.quicktime.author")
  public static let quickTimeMetadataKeyComment = AVMetadataKey(rawValue: "com.apple.quicktime.comment")
  public static let quickTimeMetadataKeyCopyright = AVMetadataKey(rawValue: "com.apple.quicktime.copyright")
  public static let quickTimeMetadataKeyCreationDate = AVMetadataKey(
    rawValue: "com.apple.quicktime.creationdate")
  public static let quickTimeMetadataKeyDirector = AVMetadataKey(rawValue: "com.apple.quicktime.director")
  public static let quickTimeMetadataKeyDisplayName = AVMetadataKey(
    rawValue: "com.apple.quicktime.displayname")
  public static let quickTimeMetadataKeyInformation = AVMetadataKey(
    rawValue: "com.apple.quicktime.information")
  public static let quickTimeMetadataKeyKeywords = AVMetadataKey(rawValue: "com.apple.quicktime.keywords")
  public static let quickTimeMetadataKeyProducer = AVMetadataKey(rawValue: "com.apple.quicktime.producer")
  public static let quickTimeMetadataKeyPublisher = AVMetadataKey(rawValue: "com.apple.quicktime.publisher")
  public static let quickTimeMetadataKeyAlbum = AVMetadataKey(rawValue: "com.apple.quicktime.album")
  public static let quickTimeMetadataKeyArtist = AVMetadataKey(rawValue: "com.apple.quicktime.artist")
  public static let quickTimeMetadataKeyArtwork = AVMetadataKey(rawValue: "com.apple.quicktime.artwork")
  public static let quickTimeMetadataKeyDescription = AVMetadataKey(
    rawValue: "com.apple.quicktime.description")
  public static let quickTimeMetadataKeySoftware = AVMetadataKey(rawValue: "com.apple.quicktime.software")
  public static let quickTimeMetadataKeyYear = AVMetadataKey(rawValue: "com.apple.quicktime.year")
  public static let quickTimeMetadataKeyCollectionUser = AVMetadataKey(
    rawValue: "com.apple.quicktime.collection.user")
  public static let quickTimeMetadataKeyRatingUser = AVMetadataKey(
    rawValue: "com.apple.quicktime.rating.user")
  public static let quickTimeMetadataKeyLocationName = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.name")
  public static let quickTimeMetadataKeyLocationBody = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.body")
  public static let quickTimeMetadataKeyLocationNote = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.note")
  public static let quickTimeMetadataKeyLocationRole = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.role")
  public static let quickTimeMetadataKeyLocationDate = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.date")
  public static let quickTimeMetadataKeyLocationISO6709 = AVMetadataKey(
    rawValue: "com.apple.quicktime.location.ISO6709")
  public static let quickTimeMetadataKeyDirectionFacing = AVMetadataKey(
    rawValue: "com.apple.quicktime.direction.facing")
  public static let quickTimeMetadataKeyDirectionMotion = AVMetadataKey(
    rawValue: "com.apple.quicktime.direction.motion")
  public static let quickTimeMetadataKeyTitle = AVMetadataKey(rawValue: "com.apple.quicktime.title")
  public static let quickTimeMetadataKeyGenre = AVMetadataKey(rawValue: "com.apple.quicktime.genre")
  public static let quickTimeMetadataKeyArranger = AVMetadataKey(rawValue: "com.apple.quicktime.arranger")
  public static let quickTimeMetadataKeyComposer = AVMetadataKey(rawValue: "com.apple.quicktime.composer")
  public static let quickTimeMetadataKeyCredits = AVMetadataKey(rawValue: "com.apple.quicktime.credits")
  public static let quickTimeMetadataKeyOriginalArtist = AVMetadataKey(
    rawValue: "com.apple.quicktime.originalartist")
  public static let quickTimeMetadataKeyPerformer = AVMetadataKey(rawValue: "com.apple.quicktime.performer")
  public static let quickTimeMetadataKeyPhonogramRights = AVMetadataKey(
    rawValue: "com.apple.quicktime.phonogramrights")
  public static let quickTimeMetadataKeyCameraIdentifier = AVMetadataKey(
    rawValue: "com.apple.quicktime.camera.identifier")
  public static let quickTimeMetadataKeyCameraFrameReadoutTime = AVMetadataKey(
    rawValue: "com.apple.quicktime.camera.framereadouttimeinmicroseconds")
  public static let quickTimeMetadataKeyMake = AVMetadataKey(rawValue: "com.apple.quicktime.make")
  public static let quickTimeMetadataKeyModel = AVMetadataKey(rawValue: "com.apple.quicktime.model")
  public static let quickTimeMetadataKeyIXML = AVMetadataKey(rawValue: "com.apple.quicktime.IXML")
  public static let quickTimeMetadataKeyContentIdentifier = AVMetadataKey(
    rawValue: "com.apple.quicktime.content.identifier")
}

extension AVMetadataIdentifier {
  public static let quickTimeMetadataAuthor = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.author")
  public static let quickTimeMetadataComment = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.comment")
  public static let quickTimeMetadataCopyright = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.copyright")
  public static let quickTimeMetadataCreationDate = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.creationdate")
  public static let quickTimeMetadataDirector = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.director")
  public static let quickTimeMetadataDisplayName = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.displayname")
  public static let quickTimeMetadataInformation = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.information")
  public static let quickTimeMetadataKeywords = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.keywords")
  public static let quickTimeMetadataProducer = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.producer")
  public static let quickTimeMetadataPublisher = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.publisher")
  public static let quickTimeMetadataAlbum = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.album")
  public static let quickTimeMetadataArtist = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.artist")
  public static let quickTimeMetadataArtwork = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.artwork")
  public static let quickTimeMetadataDescription = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.description")
  public static let quickTimeMetadataSoftware = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.software")
  public static let quickTimeMetadataYear = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.year")
  public static let quickTimeMetadataCollectionUser = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.collection.user")
  public static let quickTimeMetadataRatingUser = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.rating.user")
  public static let quickTimeMetadataLocationName = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.name")
  public static let quickTimeMetadataLocationBody = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.body")
  public static let quickTimeMetadataLocationNote = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.note")
  public static let quickTimeMetadataLocationRole = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.role")
  public static let quickTimeMetadataLocationDate = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.date")
  public static let quickTimeMetadataLocationISO6709 = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.location.ISO6709")
  public static let quickTimeMetadataDirectionFacing = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.direction.facing")
  public static let quickTimeMetadataDirectionMotion = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.direction.motion")
  public static let quickTimeMetadataTitle = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.title")
  public static let quickTimeMetadataGenre = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.genre")
  public static let quickTimeMetadataArranger = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.arranger")
  public static let quickTimeMetadataComposer = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.composer")
  public static let quickTimeMetadataCredits = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.credits")
  public static let quickTimeMetadataOriginalArtist = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.originalartist")
  public static let quickTimeMetadataPerformer = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.performer")
  public static let quickTimeMetadataPhonogramRights = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.phonogramrights")
  public static let quickTimeMetadataCameraIdentifier = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.camera.identifier")
  public static let quickTimeMetadataCameraFrameReadoutTime = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.camera.framereadouttimeinmicroseconds")
  public static let quickTimeMetadataMake = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.make")
  public static let quickTimeMetadataModel = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.model")
  public static let quickTimeMetadataIXML = AVMetadataIdentifier(rawValue: "mdta/com.apple.quicktime.IXML")
  public static let quickTimeMetadataContentIdentifier = AVMetadataIdentifier(
    rawValue: "mdta/com.apple.quicktime.content.identifier")
}
