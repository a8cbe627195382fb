// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import Foundation

/// Properties of a track's sample description (`stsd`; ISO/IEC 14496-12, 8.5.2) that libavformat
/// does not expose.
struct MovieSampleDescription: Equatable {
  /// Whether one of the sample entries is of a protected format (ISO/IEC 23001-7, or an older
  /// scheme).
  var isProtected = false
  /// Size of the picture in the first sample entry, in pixels.
  var width: Int32 = 0
  var height: Int32 = 0
  var cleanAperture: CleanAperture?
  var spatial = SpatialVideo()
  /// The content of the `lhvC` box of the first sample entry: the parameter sets of the further
  /// layers of an HEVC stream (ISO/IEC 14496-15, clause 9).
  var layers: Data?
  /// The first sample entry, with its header, if it is of timed metadata (`mebx`).
  var metadata: Data?

  /// Most sample entries, and most boxes in one, that are read.
  private static let maximum = 64
  /// Types of protected sample entries: those of MPEG Common Encryption, and those of Apple's
  /// FairPlay (`drm` and a letter).
  private static let protected: Set<String> = [
    "encv", "enca", "enct", "encs", "encm", "drmi", "drms", "drmt",
  ]
  /// Bytes of a visual sample entry before its child boxes, including the header.
  private static let pictureHeader: Int64 = 86

  /// Largest size in bytes of an `lhvC` box that is read, or written.
  static let maxLayers = 1 << 16
  /// Largest size in bytes of a sample entry of metadata, which has a key for each kind of item.
  private static let maxMetadata = 1 << 20

  /// Reads the sample entries of a `stsd` box.
  /// - Parameters:
  ///   - bytes: The file.
  ///   - start: Offset of the box's content in the file.
  ///   - end: Offset of the box's end in the file.
  ///   - metadataRoom: Bytes of metadata sample entries that may still be kept; reduced by the size
  ///     of what is kept.
  init(_ bytes: ByteWindow, _ start: Int64, _ end: Int64, metadataRoom: inout Int) {
    var at = start + 8
    for index in 0..<Self.maximum {
      guard end - at >= 16, let head = bytes.read(at, 8) else { return }
      let next = at.addingClamped(Int64(MovieBox.number(head[...], 0)))
      guard next >= at + 16, next <= end else { return }
      if Self.protected.contains(String(decoding: head[4...], as: UTF8.self)) { isProtected = true }
      if index == 0, head[4...].elementsEqual("mebx".utf8) {
        let size = Int(next - at)
        if size <= min(Self.maxMetadata, metadataRoom), let content = bytes.read(at, size) {
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
    for _ in 0..<Self.maximum {
      guard end - at >= 8, let head = bytes.read(at, 8) else { return }
      let length = Int64(MovieBox.number(head[...], 0))
      guard length >= 8, length <= end - at else { return }
      let type = String(decoding: head[4...], as: UTF8.self)
      if type == "clap", cleanAperture == nil, length >= 40, let content = bytes.read(at + 8, 32) {
        cleanAperture = CleanAperture(content)
      }
      if ["vexu", "hfov"].contains(type), length <= Int64(SpatialVideo.maximum),
        let content = bytes.read(at + 8, Int(length) - 8)
      {
        spatial.read(type, content)
      }
      if type == "lhvC", layers == nil, length <= Int64(Self.maxLayers),
        let content = bytes.read(at + 8, Int(length) - 8)
      {
        layers = Data(content)
      }
      at += length
    }
  }
}

extension MediaStream {
  /// The stream with the properties of its track that were found in a movie's boxes.
  func described(_ boxes: MovieTables.TrackProperties) -> MediaStream {
    var stream = self
    let description = boxes.descriptions[trackID]
    if kind == .data { stream.metadataDescription = description?.metadata }
    if description?.isProtected == true || boxes.encrypted.contains(trackID) { stream.isProtected = true }
    if kind == .video, let spatial = description?.spatial, !spatial.isEmpty { stream.spatial = spatial }
    if codec.codecID == AV_CODEC_ID_HEVC { stream.layerConfiguration = description?.layers }
    let (width, height) = (codec.pointer.pointee.width, codec.pointer.pointee.height)
    if kind == .video, let description, let aperture = description.cleanAperture, description.width == width,
      description.height == height, aperture.isPart(ofWidth: width, height: height)
    {
      stream.cleanAperture = aperture
    }
    return stream
  }
}
