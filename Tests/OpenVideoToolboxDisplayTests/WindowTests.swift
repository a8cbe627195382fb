// SPDX-License-Identifier: Apache-2.0
#if Display
  import Foundation
  import OpenVideoToolboxDisplay
  import Testing
  import TestSupport

  /// Windows without a screen (SDL's `dummy` drivers): colours, places and times.
  @Suite(.serialized) struct WindowTests {
    init() {
      setenv("SDL_VIDEODRIVER", "dummy", 0)
      setenv("SDL_AUDIODRIVER", "dummy", 0)
    }

    /// A picture of one colour.
    private func picture(
      _ format: OSType, _ color: (y: UInt8, cb: UInt8, cr: UInt8), matrix: CFString?, width: Int = 64,
      height: Int = 48
    ) throws -> CVPixelBuffer {
      var made: CVPixelBuffer?
      CVPixelBufferCreate(nil, width, height, format, nil, &made)
      let image = try #require(made)
      if let matrix {
        CVBufferSetAttachment(image, kCVImageBufferYCbCrMatrixKey, matrix, .shouldPropagate)
      }
      CVPixelBufferLockBaseAddress(image, [])
      defer { CVPixelBufferUnlockBaseAddress(image, []) }
      for plane in 0..<CVPixelBufferGetPlaneCount(image) {
        let bytes =
          CVPixelBufferGetBytesPerRowOfPlane(image, plane) * CVPixelBufferGetHeightOfPlane(image, plane)
        let base = try #require(CVPixelBufferGetBaseAddressOfPlane(image, plane)).assumingMemoryBound(
          to: UInt8.self)
        let isPair = CVPixelBufferGetPlaneCount(image) == 2 && plane == 1
        for index in 0..<bytes {
          base[index] =
            plane == 0
            ? color.y : isPair ? (index % 2 == 0 ? color.cb : color.cr) : plane == 1 ? color.cb : color.cr
        }
      }
      return image
    }

    private func sample(_ image: CVPixelBuffer, at time: CMTime) throws -> CMSampleBuffer {
      try CMSampleBuffer(
        imageBuffer: image, formatDescription: CMFormatDescription(imageBuffer: image),
        sampleTiming: CMSampleTimingInfo(
          duration: .invalid, presentationTimeStamp: time, decodeTimeStamp: .invalid))
    }

    /// Red, green and blue of a pixel.
    private func pixel(_ image: CVPixelBuffer, _ x: Int, _ y: Int) throws -> [Int] {
      CVPixelBufferLockBaseAddress(image, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(image, .readOnly) }
      let base = try #require(CVPixelBufferGetBaseAddress(image)).assumingMemoryBound(to: UInt8.self)
      let at = base + y * CVPixelBufferGetBytesPerRow(image) + x * 4
      return [Int(at[2]), Int(at[1]), Int(at[0])]
    }

    /// ITU-R BT.601 and BT.709: R'G'B' of Y'CbCr, by their coefficients.
    private func expected(_ color: (y: UInt8, cb: UInt8, cr: UInt8), kr: Double, kb: Double, isFull: Bool)
      -> [Int]
    {
      let y = isFull ? Double(color.y) / 255 : (Double(color.y) - 16) / 219
      let range = isFull ? 255.0 : 224.0
      let (cb, cr) = ((Double(color.cb) - 128) / range, (Double(color.cr) - 128) / range)
      let red = y + 2 * (1 - kr) * cr
      let blue = y + 2 * (1 - kb) * cb
      let green = (y - kr * red - kb * blue) / (1 - kr - kb)
      return [red, green, blue].map { Int((min(max($0, 0), 1) * 255).rounded()) }
    }

    @Test func coloursAreThoseOfTheMatrixAndRange() async throws {
      let (bt601, bt709) = (kCVImageBufferYCbCrMatrix_ITU_R_601_4, kCVImageBufferYCbCrMatrix_ITU_R_709_2)
      let cases: [(OSType, CFString?, Double, Double, Bool)] = [
        (kCVPixelFormatType_420YpCbCr8Planar, bt601, 0.299, 0.114, false),
        (kCVPixelFormatType_420YpCbCr8Planar, bt709, 0.2126, 0.0722, false),
        (kCVPixelFormatType_420YpCbCr8PlanarFullRange, bt601, 0.299, 0.114, true),
        (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, bt709, 0.2126, 0.0722, false),
        (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, bt601, 0.299, 0.114, true),
        (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, bt709, 0.2126, 0.0722, true),
        (kCVPixelFormatType_420YpCbCr8Planar, nil, 0.299, 0.114, false),
      ]
      let window = try OVTDisplayWindow(title: "colours", width: 128, height: 96)
      defer { window.close() }
      let layer = AVSampleBufferDisplayLayer()
      window.attach(layer)
      var shown = 0
      for (format, matrix, kr, kb, isFull) in cases {
        for color in [(y: UInt8(120), cb: UInt8(90), cr: UInt8(180)), (80, 150, 110)] {
          let image = try picture(format, color, matrix: matrix)
          layer.enqueue(try sample(image, at: .zero))
          shown += 1
          await waitUntil { window.statistics.shown == shown }
          let found = try pixel(window.snapshot(), 64, 48)
          let wanted = expected(color, kr: kr, kb: kb, isFull: isFull)
          #expect(
            zip(found, wanted).allSatisfy { abs($0 - $1) <= 3 },
            "\(format) \(isFull): \(found), not \(wanted)")
        }
      }
    }

    @Test func gravityPlacesThePicture() async throws {
      let window = try OVTDisplayWindow(title: "gravity", width: 200, height: 100)
      defer { window.close() }
      let layer = AVSampleBufferDisplayLayer()
      window.attach(layer)
      let color = (y: UInt8(235), cb: UInt8(128), cr: UInt8(128))
      layer.enqueue(
        try sample(
          picture(kCVPixelFormatType_420YpCbCr8Planar, color, matrix: nil, width: 48, height: 48), at: .zero))
      await waitUntil { window.statistics.shown == 1 }
      // A square in the middle of a window that is twice as wide as high.
      var image = try window.snapshot()
      #expect(try pixel(image, 100, 50)[0] > 250 && pixel(image, 53, 50)[0] > 250)
      #expect(try pixel(image, 46, 50) == [0, 0, 0] && pixel(image, 154, 50) == [0, 0, 0])
      layer.videoGravity = .resize
      image = try window.snapshot()
      #expect(try pixel(image, 2, 50)[0] > 250 && pixel(image, 197, 97)[0] > 250)
      layer.videoGravity = .resizeAspectFill
      image = try window.snapshot()
      #expect(try pixel(image, 2, 2)[0] > 250)
      window.setProgressBar(fraction: { 0.5 }, text: { "0:07" })
      image = try window.snapshot()
      let (done, left) = (try pixel(image, 20, 94), try pixel(image, 150, 94))
      #expect(done[0] > 200 && done[1] < 100 && left[0] < 150)
      layer.flushAndRemoveImage()
      await waitUntil { (try? pixel(window.snapshot(), 100, 20)) == [0, 0, 0] }
      #expect(try pixel(window.snapshot(), 100, 20) == [0, 0, 0])
      window.close()
      #expect(throws: OVTDisplayError.self) { try window.snapshot() }
    }

    /// A transform that is not of numbers turns nothing.
    @Test func transformsWithoutNumbersTurnNothing() async throws {
      let window = try OVTDisplayWindow(title: "turns", width: 64, height: 48)
      defer { window.close() }
      let layer = AVSampleBufferDisplayLayer()
      window.attach(layer)
      let image = try picture(kCVPixelFormatType_420YpCbCr8Planar, (235, 128, 128), matrix: nil)
      layer.enqueue(try sample(image, at: .zero))
      await waitUntil { window.statistics.shown == 1 }
      let numbers: [(a: CGFloat, b: CGFloat)] = [
        (.nan, 0), (0, .nan), (.nan, .nan), (.infinity, .nan), (.infinity, 0), (0, 0),
      ]
      for (a, b) in numbers {
        layer.transform = CGAffineTransform(a: a, b: b, c: 0, d: 1, tx: .nan, ty: 0)
        #expect(try pixel(window.snapshot(), 32, 24)[0] > 250, "\(a) \(b)")
      }
    }

    /// Every picture is shown or counted as dropped, and what is shown is shown at its time.
    @Test func picturesComeAtTheirTimes() async throws {
      let window = try OVTDisplayWindow(title: "times", width: 64, height: 48)
      defer { window.close() }
      let layer = AVSampleBufferDisplayLayer()
      let timebase = try CMTimebase(sourceClock: CMClockGetHostTimeClock())
      layer.controlTimebase = timebase
      let times = Times()
      layer.frameHandler = { _, time in times.add(time) }
      window.attach(layer)
      let image = try picture(kCVPixelFormatType_420YpCbCr8Planar, (100, 128, 128), matrix: nil)
      for index in 0..<20 { layer.enqueue(try sample(image, at: CMTime(value: Int64(index), timescale: 25))) }
      await waitUntil { window.statistics.shown == 1 }
      letOthersRun(turns: 50_000)
      #expect(window.statistics.shown == 1)
      try timebase.setRate(1)
      // The first one was shown while the time was stopped.
      await waitUntil {
        let now = window.statistics
        return now.shown + now.dropped == 20 && now.errors.count == now.shown - 1
          && times.list.count == now.shown
      }
      let figures = window.statistics
      #expect(figures.shown + figures.dropped == 20 && figures.shown >= 1)
      #expect(figures.errors.count == figures.shown - 1)
      #expect(figures.errors.allSatisfy { $0 > -0.001 })
      #expect(times.list.first == .zero && times.list.last == CMTime(value: 19, timescale: 25))
      // A jump over ten pictures drops most of them; how many depends on what was decoded by then.
      layer.flush()
      try timebase.setRate(0)
      try timebase.setTime(CMTime(value: 10, timescale: 1))
      let before = window.statistics
      for index in 0..<11 {
        layer.enqueue(try sample(image, at: CMTime(value: Int64(100 + index), timescale: 10)))
      }
      await waitUntil { window.statistics.shown == before.shown + 1 }
      letOthersRun(turns: 50_000)
      try timebase.setTime(CMTime(value: 11, timescale: 1))
      await waitUntil {
        let now = window.statistics
        return now.shown + now.dropped == before.shown + before.dropped + 11
          && times.list.count == now.shown
      }
      let after = window.statistics
      #expect(after.shown + after.dropped == before.shown + before.dropped + 11)
      #expect(after.shown >= before.shown + 2)
      let all = times.list
      #expect(all.count == after.shown && all.last == CMTime(value: 11, timescale: 1))
      #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    }

    private final class Times: @unchecked Sendable {
      private let lock = NSLock()
      private var times: [CMTime] = []
      func add(_ time: CMTime) { lock.withLock { times.append(time) } }
      var list: [CMTime] { lock.withLock { times } }
    }

    @Test func audioAndTimeLineGoTogether() async throws {
      let renderer = AVSampleBufferAudioRenderer()
      let synchronizer = AVSampleBufferRenderSynchronizer()
      synchronizer.addRenderer(renderer)
      let device = OVTAudioDevice()
      renderer.ovtAudioSink = device
      var basic = AudioStreamBasicDescription()
      basic.mSampleRate = 48000
      basic.mFormatID = kAudioFormatLinearPCM
      basic.mFormatFlags = kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked
      (basic.mBytesPerFrame, basic.mBytesPerPacket, basic.mFramesPerPacket) = (4, 4, 1)
      (basic.mChannelsPerFrame, basic.mBitsPerChannel) = (1, 32)
      // A minute: the device may take its time.
      let frames = 48000 * 60
      let block = try CMBlockBuffer(length: frames * 4, flags: .assureMemoryNow)
      try block.fillDataBytes(with: 0)
      var timing = CMSampleTimingInfo(
        duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      var size = 4
      var made: CMSampleBuffer?
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block,
        formatDescription: try CMFormatDescription(audioStreamBasicDescription: basic), sampleCount: frames,
        sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1,
        sampleSizeArray: &size,
        sampleBufferOut: &made)
      renderer.enqueue(try #require(made))
      synchronizer.rate = 1
      // A busy machine lets the device's thread wait now and then, but they come together.
      var near = 0
      await waitUntil {
        if let offset = renderer.ovtOffset, abs(offset) < 0.02 { near += 1 }
        return near >= 5
      }
      #expect(renderer.error == nil && near >= 5)
      device.stop()
    }
  }
#endif
