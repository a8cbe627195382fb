// SPDX-License-Identifier: Apache-2.0
import struct VideoBitstream.DataRateLimit

/// The part of an encoder's configuration that the look-ahead and its rate control read.
package struct LookAheadSettings: Sendable, Equatable {
  /// The size of the pictures in luma samples.
  package var width: Int
  package var height: Int
  /// The frame rate in frames per second, where frames give no durations.
  package var frameRate: Double
  /// The bit rate or quality to aim at.
  package var rate = LookAheadRate.quality(24)
  /// The decoder's buffer; nil: none.
  package var buffer: CodedPictureBuffer?
  /// The hard limits of the bytes in windows of time.
  package var dataRateLimits: [DataRateLimit] = []
  /// The lowest and the highest QP of any block, 0 to 51.
  package var minimumQP = 0
  package var maximumQP = 51
  /// The most frames from one key frame to the next; nil: what `keyFrameDuration` allows, or 250
  /// where it is nil too.
  package var keyFrameInterval: Int?
  /// The most seconds from one key frame to the next; nil: no limit.
  package var keyFrameDuration: Double?
  /// The most frames from one key frame to the next.
  var mostPicturesOfGroup: Int { keyFrameInterval ?? (keyFrameDuration == nil ? 250 : .max) }
  /// Whether a new scene begins with a key frame.
  package var placesKeyFramesAtCuts = true
  /// The most B pictures in a row.
  package var bidirectionalLimit = 0
  /// Whether B pictures may refer to a B picture.
  package var hasPyramid = false
  /// Whether there may be key frames with B pictures before them in output order that refer across
  /// them.
  package var hasOpenGOP = false
  /// The strength of adaptive quantisation by local variance, 0 to 2.
  package var adaptiveQuantisation = 0.0
  /// The duration of the stream in seconds, if known: the rate control then aims at the target at
  /// its end.
  package var expectedDuration: Double?
  /// The bit rate of the pictures that are coded, in bits per second, where the stream replaces a
  /// part of another one. It replaces the average of `rate`.
  package var partRate: Int?
  /// Whether another stream comes before or after this one, with which it shares the buffer.
  package var hasFramesBefore = false
  package var hasFramesAfter = false

  /// Creates settings with defaults for everything else: a quality of QP 24.
  /// - Parameters:
  ///   - width: the width of the pictures in luma samples.
  ///   - height: the height of the pictures in luma samples.
  ///   - frameRate: the frame rate in frames per second.
  package init(width: Int, height: Int, frameRate: Double) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
  }

  /// The most frames that precede a frame in decoding order and follow it in output order
  /// (max_num_reorder_frames).
  package var reorderingDepth: Int { bidirectionalLimit == 0 ? 0 : hasPyramid ? 2 : 1 }

  /// Whether the stream shares its buffer with a stream before or after it.
  package var isJoined: Bool { buffer != nil && (hasFramesBefore || hasFramesAfter) }

  /// Whether all blocks of all pictures have the configured QP, without offsets.
  package var isConstantQP: Bool {
    if case .constantQP = rate { return true }
    return false
  }

  /// Whether the bit rate is constant.
  package var isConstantRate: Bool {
    if case .constant = rate { return true }
    return false
  }

  /// The bit rate that the rate control aims at, in bits per second; nil with a quality or a QP.
  package var targetRate: Int? {
    switch rate {
    case .constantQP, .quality: nil
    case .average(let bits): min(bits, buffer?.maximumRate ?? bits, limitedRate ?? bits)
    case .constant(let bits): bits
    }
  }

  /// The bit rate that the tightest data rate limit allows, in bits per second; nil without a
  /// limit.
  private var limitedRate: Int? {
    // This may run before limits are validated, so a value that is not a number counts as the least
    // rate.
    dataRateLimits.map { Double($0.bytes) * 8 / $0.seconds }.min().map {
      $0 > 1000 ? Int(min($0, 2e9)) : 1000
    }
  }
}
