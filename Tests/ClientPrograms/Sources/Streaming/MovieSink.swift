// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia

/// Takes encoded samples in real time and writes a movie.
actor MovieSink {
  private let writer: AVAssetWriter
  private var input: AVAssetWriterInput?
  private(set) var bytes = 0
  private(set) var count = 0

  init(url: URL) throws {
    try? FileManager.default.removeItem(at: url)
    writer = try AVAssetWriter(outputURL: url, fileType: .mp4)
  }

  func append(_ sample: CMSampleBuffer) throws {
    if input == nil {
      let input = AVAssetWriterInput(
        mediaType: .video, outputSettings: nil, sourceFormatHint: CMSampleBufferGetFormatDescription(sample))
      input.expectsMediaDataInRealTime = true
      guard writer.canAdd(input) else { throw NSError(domain: NSOSStatusErrorDomain, code: -3) }
      writer.add(input)
      guard writer.startWriting() else {
        throw writer.error ?? NSError(domain: NSOSStatusErrorDomain, code: -4)
      }
      writer.startSession(atSourceTime: sample.presentationTimeStamp)
      self.input = input
    }
    guard let input, input.append(sample) else {
      throw writer.error ?? NSError(domain: NSOSStatusErrorDomain, code: -5)
    }
    bytes += CMSampleBufferGetTotalSampleSize(sample)
    count += 1
  }

  func finish() async throws {
    input?.markAsFinished()
    await writer.finishWriting()
    if let error = writer.error { throw error }
  }
}
