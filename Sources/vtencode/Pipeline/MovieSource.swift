import AVFoundation
import Foundation

/// The movie to encode: what its tracks say, and readers for them.
struct MovieSource: Sendable {
  let name: String
  let asset: AVURLAsset
  let video: AVAssetTrack
  let sound: AVAssetTrack?
  let soundFormat: CMFormatDescription?
  /// Size of the stored picture in samples, before any rotation.
  let width: Int
  let height: Int
  let frameRate: Double
  let duration: CMTime
  let timescale: CMTimeScale
  let transform: CGAffineTransform
  let format: CMFormatDescription
  /// Frames a second given for a raw stream, which has no times of its own.
  let streamFrameRate: Double?

  /// - Parameter streamFrameRate: frames a second, for a raw stream alone.
  static func open(_ path: String, streamFrameRate: Double?) async throws -> MovieSource {
    try checkFile(path)
    let options = streamFrameRate.map { [AVURLAssetElementaryStreamFrameRateKey: $0 as Any] }
    let asset = AVURLAsset(url: URL(fileURLWithPath: path), options: options)
    let videoTracks: [AVAssetTrack]
    let soundTracks: [AVAssetTrack]
    do {
      videoTracks = try await asset.loadTracks(withMediaType: .video)
      soundTracks = try await asset.loadTracks(withMediaType: .audio)
    } catch {
      throw Failure("cannot read '\(path)' as a movie (\(Failure.describe(error))); is it one, and whole?")
    }
    guard let video = videoTracks.first else {
      throw Failure("'\(path)' has no video track; give a movie that has one")
    }
    let (size, rate, range, timescale, transform, formats) = try await video.load(
      .naturalSize, .nominalFrameRate, .timeRange, .naturalTimeScale, .preferredTransform, .formatDescriptions
    )
    guard let format = formats.first else {
      throw Failure("'\(path)' does not say how its video is coded; it may be damaged")
    }
    let coded = CMVideoFormatDescriptionGetDimensions(format)
    let width = coded.width > 0 ? Int(coded.width) : Int(clamping: Double(size.width))
    let height = coded.height > 0 ? Int(coded.height) : Int(clamping: Double(size.height))
    let frameRate = rate > 0 ? Double(rate) : 30
    if let streamFrameRate, abs(frameRate / streamFrameRate - 1) > 0.01 {
      throw Failure("--fps is for raw streams, and '\(path)' has times of its own; leave it out")
    }
    return MovieSource(
      name: path, asset: asset, video: video, sound: soundTracks.first,
      soundFormat: try await soundTracks.first?.load(.formatDescriptions).first, width: width, height: height,
      frameRate: frameRate, duration: range.duration, timescale: timescale, transform: transform,
      format: format, streamFrameRate: streamFrameRate)
  }

  private static func checkFile(_ path: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Failure("there is no file '\(path)'; check the name and the folder")
    }
    guard !isFolder.boolValue else { throw Failure("'\(path)' is a folder; give a movie file") }
    guard access(path, R_OK) == 0 else {
      throw Failure("cannot read '\(path)': \(String(cString: strerror(errno)).lowercased())")
    }
  }

  /// Frames that the movie should have, as far as it says; nil if it does not.
  var expectedFrames: Int? {
    guard duration.isNumeric, duration.seconds > 0, frameRate > 0 else { return nil }
    return max(Int(Int32(clamping: (duration.seconds * frameRate).rounded())), 1)
  }
}
