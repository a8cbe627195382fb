// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Foundation

/// Compressed samples on a display layer that follows a timebase of its own.
final class Player: @unchecked Sendable {
  let displayLayer = AVSampleBufferDisplayLayer()
  private let queue = DispatchQueue(label: "player.enqueue")
  private let asset: AVAsset
  private let reader: AVAssetReader
  private let output: AVAssetReaderTrackOutput
  let done = DispatchSemaphore(value: 0)
  private(set) var enqueued = 0
  private let limit: Int

  init(asset: AVAsset, track: AVAssetTrack, limit: Int) throws {
    self.asset = asset
    self.limit = limit
    reader = try AVAssetReader(asset: asset)
    output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    var timebase: CMTimebase?
    let status = CMTimebaseCreateWithSourceClock(
      allocator: kCFAllocatorDefault, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &timebase)
    guard status == noErr, let timebase else {
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    }
    displayLayer.controlTimebase = timebase
    displayLayer.videoGravity = .resizeAspect
    CMTimebaseSetTime(timebase, time: .zero)
    CMTimebaseSetRate(timebase, rate: 0)
  }

  func play() {
    guard reader.startReading() else { return expect(false, "\(String(describing: reader.error))") }
    CMTimebaseSetRate(displayLayer.controlTimebase!, rate: 4)
    displayLayer.requestMediaDataWhenReady(on: queue) { [weak self] in
      guard let self else { return }
      while self.displayLayer.isReadyForMoreMediaData {
        guard self.enqueued < self.limit, let sampleBuffer = self.output.copyNextSampleBuffer() else {
          self.displayLayer.stopRequestingMediaData()
          self.reader.cancelReading()
          self.done.signal()
          return
        }
        guard sampleBuffer.numSamples > 0 else { continue }
        self.displayLayer.enqueue(sampleBuffer)
        self.enqueued += 1
        if self.displayLayer.status == .failed {
          expect(false, "\(String(describing: self.displayLayer.error))")
        }
      }
    }
  }
}

func play(_ movie: URL) async throws {
  let asset = AVURLAsset(url: movie)
  let track = try await asset.loadTracks(withMediaType: .video).first!
  let player = try Player(asset: asset, track: track, limit: 60)
  player.play()
  let semaphore = player.done
  let finished = await Task.detached { wait(for: semaphore, seconds: 30) }.value
  expect(finished)
  expect(player.enqueued == 60 && player.displayLayer.status == .rendering)
  expect(CMTimebaseGetRate(player.displayLayer.timebase) == 4)

  // Live: whatever comes is shown at once.
  let live = AVSampleBufferDisplayLayer()
  let reader = try AVAssetReader(asset: asset)
  let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
  reader.add(output)
  expect(reader.startReading())
  for _ in 0..<5 {
    guard let sampleBuffer = output.copyNextSampleBuffer(),
      let attachments = CMSampleBufferGetSampleAttachmentsArray(sampleBuffer, createIfNecessary: true)
    else { return expect(false) }
    let dictionary = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFMutableDictionary.self)
    CFDictionarySetValue(
      dictionary,
      Unmanaged.passUnretained(kCMSampleAttachmentKey_DisplayImmediately).toOpaque(),
      Unmanaged.passUnretained(kCFBooleanTrue).toOpaque())
    live.enqueue(sampleBuffer)
  }
  expect(live.error == nil)
  live.flushAndRemoveImage()
  expect(live.status != .failed)

  // The renderer under a synchronizer.
  let renderer = AVSampleBufferDisplayLayer()
  let synchronizer = AVSampleBufferRenderSynchronizer()
  synchronizer.addRenderer(renderer)
  synchronizer.setRate(1, time: CMTime(value: 1, timescale: 1))
  expect(synchronizer.rate == 1 && synchronizer.renderers.count == 1)
  expect(CMTimebaseGetTime(synchronizer.timebase).seconds >= 1)
  synchronizer.removeRenderer(renderer, at: .zero, completionHandler: nil)
}

private func wait(for semaphore: DispatchSemaphore, seconds: Int) -> Bool {
  semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
}
