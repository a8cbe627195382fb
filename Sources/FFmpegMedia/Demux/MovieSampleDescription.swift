// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// What a movie says of a track's samples (`stsd`; ISO/IEC 14496-12, 8.5.2) that libavformat does not tell.
struct MovieSampleDescription: Equatable {
  /// Samples of one of the kinds are encrypted (ISO/IEC 23001-7, and what came before it).
  var isProtected = false
  /// Of the first kind of samples, as the description measures the picture.
  var width: Int32 = 0
  var height: Int32 = 0
  var cleanAperture: CleanAperture?
  var spatial = SpatialVideo()
  /// The first description, with its header, of timed metadata in boxes ('mebx').
  var metadata: Data?

  /// Descriptions, and boxes in one, that are looked at.
  private static let most = 64
  /// The formats of protected samples: MPEG's common encryption, and that of a shop.
  private static let protected: Set<String> = [
    "encv", "enca", "enct", "encs", "encm", "drmi", "drms", "drmt",
  ]
  /// Of a description of pictures, its header with it, before its boxes.
  private static let pictureHeader: Int64 = 86

  /// Bytes of a description of metadata, which has a key for each kind of item.
  private static let mostMetadata = 1 << 20

  /// - Parameters:
  ///   - bytes: The file.
  ///   - start: Where the content of the box begins, in bytes from the beginning of the file.
  ///   - end: Where it ends.
  ///   - metadataRoom: Bytes of descriptions of metadata that may still be kept; what is kept is taken off.
  init(_ bytes: ByteWindow, _ start: Int64, _ end: Int64, metadataRoom: inout Int) {
    var at = start + 8
    for index in 0..<Self.most {
      guard end - at >= 16, let head = bytes.read(at, 8) else { return }
      let next = at.addingClamped(Int64(MovieBox.number(head[...], 0)))
      guard next >= at + 16, next <= end else { return }
      if Self.protected.contains(String(decoding: head[4...], as: UTF8.self)) { isProtected = true }
      if index == 0, head[4...].elementsEqual("mebx".utf8) {
        let size = Int(next - at)
        if size <= min(Self.mostMetadata, metadataRoom), let content = bytes.read(at, size) {
          metadata = Data(content)
          metadataRoom -= size
        }
      } else if index == 0 {
        readPicture(bytes, at, next)
      }
      at = next
    }
  }

  private mutating func readPicture(_ bytes: ByteWindow, _ start: Int64, _ end: Int64) {
    guard let size = bytes.read(start + 32, 4) else { return }
    width = Int32(MovieBox.number(size[...], 0, count: 2))
    height = Int32(MovieBox.number(size[...], 2, count: 2))
    var at = start + Self.pictureHeader
    for _ in 0..<Self.most {
      guard end - at >= 8, let head = bytes.read(at, 8) else { return }
      let length = Int64(MovieBox.number(head[...], 0))
      guard length >= 8, length <= end - at else { return }
      let type = String(decoding: head[4...], as: UTF8.self)
      if type == "clap", cleanAperture == nil, length >= 40, let content = bytes.read(at + 8, 32) {
        cleanAperture = CleanAperture(content)
      }
      if ["vexu", "hfov"].contains(type), length <= Int64(SpatialVideo.most),
        let content = bytes.read(at + 8, Int(length) - 8)
      {
        spatial.read(type, content)
      }
      at += length
    }
  }
}

extension MediaStream {
  /// The stream with what a movie's boxes say of its samples.
  func described(_ boxes: MovieTables.Facts) -> MediaStream {
    var stream = self
    let description = boxes.descriptions[trackID]
    if kind == .data { stream.metadataDescription = description?.metadata }
    if description?.isProtected == true || boxes.encrypted.contains(trackID) { stream.isProtected = true }
    if kind == .video, let spatial = description?.spatial, !spatial.isEmpty { stream.spatial = spatial }
    let (width, height) = (codec.pointer.pointee.width, codec.pointer.pointee.height)
    if kind == .video, let description, let aperture = description.cleanAperture, description.width == width,
      description.height == height, aperture.isPart(ofWidth: width, height: height)
    {
      stream.cleanAperture = aperture
    }
    return stream
  }
}
