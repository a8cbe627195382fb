// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import OSLog

// A player of movies that lie scrambled in an archive: `Archive MOVIE`. The asset's URL has a
// scheme of its own, and a resource loader's delegate gives the bytes.

private let log = Logger(subsystem: "org.example.archive", category: "loader")

enum ArchiveError: Error { case notFound, failed(String) }

final class ArchiveLoader: NSObject, AVAssetResourceLoaderDelegate {
  static let scheme = "archive"
  private let scrambled: Data
  private let key: UInt8 = 0x5A

  init(contentsOf url: URL) throws {
    scrambled = Data(try Data(contentsOf: url).map { $0 ^ 0x5A })
    super.init()
  }

  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader,
    shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
  ) -> Bool {
    guard let url = loadingRequest.request.url, url.scheme == ArchiveLoader.scheme else { return false }
    guard url.lastPathComponent != "missing.mp4" else {
      loadingRequest.finishLoading(with: ArchiveError.notFound)
      return true
    }
    if let info = loadingRequest.contentInformationRequest {
      info.contentType = AVFileType.mp4.rawValue
      info.contentLength = Int64(scrambled.count)
      info.isByteRangeAccessSupported = true
    }
    if let dataRequest = loadingRequest.dataRequest {
      let offset = Int(dataRequest.currentOffset)
      let length =
        dataRequest.requestsAllDataToEndOfResource
        ? scrambled.count - offset : min(dataRequest.requestedLength, scrambled.count - offset)
      log.debug("bytes \(offset)..<\(offset + length)")
      let part = scrambled.subdata(in: offset..<offset + length)
      dataRequest.respond(with: Data(part.map { $0 ^ key }))
    }
    loadingRequest.finishLoading()
    return true
  }

  func resourceLoader(
    _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
  ) {
    log.info("cancelled \(loadingRequest.request.url?.absoluteString ?? "", privacy: .public)")
  }
}

@main struct Archive {
  static func main() async throws {
    let file = URL(fileURLWithPath: CommandLine.arguments[1])
    let loader = try ArchiveLoader(contentsOf: file)
    let queue = DispatchQueue(label: "org.example.archive.loader")

    let asset = AVURLAsset(url: URL(string: "archive://movies/film.mp4")!)
    asset.resourceLoader.setDelegate(loader, queue: queue)
    let duration = try await asset.load(.duration)
    let direct = try await AVURLAsset(url: file).load(.duration)
    guard duration == direct else { throw ArchiveError.failed("\(duration) is not \(direct)") }

    // All pictures are there.
    guard let track = try await asset.loadTracks(withMediaType: .video).first else {
      throw ArchiveError.failed("no video")
    }
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: track,
      outputSettings: [
        kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
      ])
    reader.add(output)
    guard reader.startReading() else { throw reader.error ?? ArchiveError.failed("cannot read") }
    var count = 0
    while let sample = output.copyNextSampleBuffer() {
      if CMSampleBufferGetImageBuffer(sample) != nil { count += 1 }
    }
    guard reader.status == .completed, count > 0 else {
      throw reader.error ?? ArchiveError.failed("\(count) pictures")
    }

    // A property that is not in the archive cannot be loaded, and the delegate's error says why.
    let missing = AVURLAsset(url: URL(string: "archive://movies/missing.mp4")!)
    missing.resourceLoader.setDelegate(loader, queue: queue)
    do {
      _ = try await missing.load(.duration)
      throw ArchiveError.failed("a movie that is not there was loaded")
    } catch let error as AVError {
      guard (error as NSError).userInfo[NSUnderlyingErrorKey] is NSError else {
        throw ArchiveError.failed("no reason")
      }
    }
    print("archive: \(count) pictures, \(duration.seconds) s")
  }
}
