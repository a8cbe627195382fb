#if X264
  import CodecInterface

  /// Knows what hard limits of the data rate leave for the frames to come.
  ///
  /// libx264's buffer model is a bucket that fills at a steady rate, which keeps to a limit by its size and rate
  /// alone, whatever came before. So it refills slowly, even where the last seconds were cheap. This ledger remembers
  /// the frames that still count in a window, and has the bucket fill faster as far as each window that is to come
  /// has room for it; or slower, should a frame have taken more than the bucket held.
  struct WindowLedger {
    private let windows: [(bits: Double, seconds: Double)]
    private let rate: Double
    private let size: Double

    /// How full libx264's bucket is after the last frame that came out.
    private var fill: Double
    /// Frames that count in the longest window: when each began, and its bits.
    private var past: [(time: Double, bits: Double)] = []
    private var time = 0.0
    /// What the bucket was given for frames that have not come out yet, beyond its steady rate.
    private var extras: [Double] = []
    /// Frames that libx264 works on at a time.
    private let concurrency: Int

    /// - Parameter rateControl: has limits.
    init?(_ rateControl: RateControl, concurrency: Int) {
      self.concurrency = max(concurrency, 1)
      guard !rateControl.limits.isEmpty, let model = rateControl.bufferModel else { return nil }
      windows = rateControl.limits.map { (Double($0.bytes) * 8 * 0.97, max($0.seconds, 0.001)) }
      rate = Double(model.maximumRate)
      size = Double(model.size)
      fill = size * model.initialFullness
    }

    /// Goes on with other limits, in the knowledge of what was sent.
    mutating func follow(_ rateControl: RateControl) {
      guard var new = WindowLedger(rateControl, concurrency: concurrency) else { return }
      new.fill = min(fill, new.size)
      new.past = past
      new.time = time
      new.extras = extras
      self = new
    }

    /// Bits a second at which the bucket is to fill while the next frame is encoded.
    /// - Parameter duration: seconds of that frame.
    mutating func nextRate(duration: Double) -> Double {
      let extra = max(min(room - extras.reduce(0, +), size) / 2, -0.75 * rate * duration)
      return rate + extra / duration
    }

    /// The encoder is called with this rate. While its look-ahead fills, no frame begins with the call.
    mutating func noteCall(rate used: Double, duration: Double) {
      extras.append((used - rate) * duration)
      if extras.count > concurrency { extras.removeFirst() }
    }

    mutating func noteOutput(bits: Int, duration: Double) {
      let extra = extras.isEmpty ? 0 : extras.removeFirst()
      fill = min(max(fill - Double(bits), 0) + rate * duration + extra, size)
      past.append((time, Double(bits)))
      time += duration
      let longest = windows.map(\.seconds).max() ?? 0
      while let first = past.first, first.time <= time - longest { past.removeFirst() }
    }

    /// Bits that the bucket may be given at once, so that no window overflows even if it is emptied and goes on to be
    /// emptied at its steady rate. Below 0: it holds too much.
    private var room: Double {
      var least = Double.infinity
      for window in windows {
        // The window that begins with each frame of the past, just before the frame leaves it; and one of the future.
        least = min(least, window.bits - fill - rate * window.seconds)
        var sum = 0.0
        for frame in past.reversed() {
          let ahead = frame.time + window.seconds - time
          guard ahead > 0 else { break }
          sum += frame.bits
          least = min(least, window.bits - sum - fill - rate * ahead)
        }
      }
      return least
    }
  }
#endif
