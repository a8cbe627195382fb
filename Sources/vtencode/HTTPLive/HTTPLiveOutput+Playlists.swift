// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The playlist of all renditions, and the manifest that says the same for DASH. The caller holds
/// the output's lock.
extension HTTPLiveOutput {
  /// The peak segment bit rate: as measured, and while a stream continues at least the highest one
  /// that the encoder is allowed.
  func peak(_ stream: SegmentStream, isWhole: Bool) -> Double {
    guard !isWhole, let encoding = stream.encoding, encoding.quality == nil else { return stream.rate.peak }
    return max(stream.rate.peak, encoding.highestBitRate + stream.audioRate)
  }

  private func average(_ stream: SegmentStream, isWhole: Bool) -> Double {
    guard !isWhole, let encoding = stream.encoding, encoding.quality == nil else {
      return stream.rate.average
    }
    return max(stream.rate.average, Double(encoding.bitRate) + stream.audioRate)
  }

  func multivariant(isWhole: Bool) -> MultivariantPlaylist {
    var playlist = MultivariantPlaylist()
    for (stream, writer) in zip(streams, writers) where stream.hasSegments {
      let (peak, average) = (peak(stream, isWhole: isWhole), average(stream, isWhole: isWhole))
      guard let encoding = stream.encoding, let picture = writer.formats.first else {
        playlist.audioRenditions.append(
          MultivariantPlaylist.AudioRendition(
            stream, writer.formats.first, number: playlist.audioRenditions.count + 1, peak: peak,
            average: average))
        continue
      }
      let size = CMVideoFormatDescriptionGetPresentationDimensions(
        picture, usePixelAspectRatio: true, useCleanAperture: true)
      playlist.variants.append(
        MultivariantPlaylist.Variant(
          suffix: stream.playlistSuffix, codecs: writer.formats.map(CodecString.of),
          width: Int(size.width.rounded()), height: Int(size.height.rounded()), frameRate: encoding.frameRate,
          peakRate: peak, averageRate: average, range: Self.range(of: picture),
          keyFrames: stream.keyFramePlaylistSuffix.map {
            MultivariantPlaylist.KeyFrames(
              suffix: $0, codec: CodecString.of(picture), peakRate: stream.keyFrameRate.peak,
              averageRate: stream.keyFrameRate.average)
          }))
    }
    for text in texts where text.stream.hasSegments {
      let language = SegmentLanguage.tag(text.stream.languageCode)
      let number = playlist.texts.count + 1
      playlist.texts.append(
        MultivariantPlaylist.Text(
          suffix: text.stream.playlistSuffix, name: language.map { "\(number) (\($0))" } ?? "\(number)",
          language: language, peakRate: text.stream.rate.peak, averageRate: text.stream.rate.average))
    }
    return playlist
  }

  /// The same for DASH, without text.
  func manifest(isWhole: Bool) -> DASHManifest {
    var manifest = DASHManifest(targetDuration: streams.map(\.playlist.targetDuration).max() ?? 1)
    manifest.isWindow = plan.playlist == .window
    if !isWhole {
      manifest.epoch = streams.first?.epoch
      manifest.published = Date().timeIntervalSince1970
    }
    for (stream, writer) in zip(streams, writers) {
      guard let map = stream.playlist.map, let format = writer.formats.first else { continue }
      var representation = DASHManifest.Representation(
        name: stream.name, isVideo: stream.kind == .video, codec: CodecString.of(format),
        bandwidth: peak(stream, isWhole: isWhole), initialization: map.suffix,
        segments: stream.playlist.segments)
      if let encoding = stream.encoding {
        (representation.width, representation.height) = (encoding.width, encoding.height)
        representation.frameRate = encoding.frameRate
      } else {
        representation.language = SegmentLanguage.tag(stream.languageCode)
      }
      manifest.representations.append(representation)
    }
    return manifest
  }

  /// The value of VIDEO-RANGE for a high dynamic range; nil for a standard one.
  private static func range(of picture: CMFormatDescription) -> String? {
    let function =
      CMFormatDescriptionGetExtension(
        picture, extensionKey: kCMFormatDescriptionExtension_TransferFunction) as? String
    if function == kCMFormatDescriptionTransferFunction_SMPTE_ST_2084_PQ as String { return "PQ" }
    return function == kCMFormatDescriptionTransferFunction_ITU_R_2100_HLG as String ? "HLG" : nil
  }
}

extension MultivariantPlaylist.AudioRendition {
  /// - Parameters:
  ///   - number: counted from 1; the first one is the default.
  ///   - peak: the peak segment bit rate in bits a second.
  ///   - average: the average segment bit rate in bits a second.
  fileprivate init(
    _ stream: SegmentStream, _ format: CMFormatDescription?, number: Int, peak: Double, average: Double
  ) {
    let language = SegmentLanguage.tag(stream.languageCode)
    let channels = format?.audioStreamBasicDescription?.mChannelsPerFrame ?? 2
    self.init(
      suffix: stream.playlistSuffix, name: language.map { "\(number) (\($0))" } ?? "\(number)",
      language: language, channels: Int(channels),
      codec: format.flatMap(CodecString.of), isDefault: number == 1, peakRate: peak, averageRate: average)
  }
}
