// SPDX-License-Identifier: Apache-2.0
/// The first part of vui_parameters(), which is the same in H.264 and HEVC: how samples are to be
/// displayed (E.1.1).
package struct VideoAppearance: Equatable, Sendable {
  /// The syntax elements that follow video_signal_type_present_flag.
  package struct Signal: Equatable, Sendable {
    /// video_format (Table E-2); 5: unspecified.
    package var format = 5
    /// video_full_range_flag
    package var isFullRange = false
    /// The colour description; nil: colour_description_present_flag is 0.
    package var color: ColorDescription?

    package init(format: Int = 5, isFullRange: Bool = false, color: ColorDescription? = nil) {
      self.format = format
      self.isFullRange = isFullRange
      self.color = color
    }
  }

  /// chroma_sample_loc_type_top_field and chroma_sample_loc_type_bottom_field, 0...5.
  package struct ChromaLocations: Equatable, Sendable {
    package var top: Int
    package var bottom: Int

    package init(top: Int, bottom: Int) {
      self.top = top
      self.bottom = bottom
    }
  }

  /// The sample aspect ratio; nil: not present.
  package var aspectRatio: SampleAspectRatio?
  /// overscan_appropriate_flag; nil: not present.
  package var isOverscanAppropriate: Bool?
  /// The type of the video signal; nil: not present.
  package var signal: Signal?
  /// The positions of chroma samples; nil: not present.
  package var chromaLocations: ChromaLocations?

  package init() {}

  /// video_full_range_flag, or the value that is inferred where it is not present.
  package var isFullRange: Bool { signal?.isFullRange ?? false }
  /// The colour description, unspecified where it is not present.
  package var color: ColorDescription { signal?.color ?? ColorDescription() }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.optional(&aspectRatio, SampleAspectRatio()) { $1.code(&$0) }
    c.optional(&isOverscanAppropriate, false) { $0.flag(&$1) }
    c.optional(&signal, Signal()) {
      $0.u(&$1.format, 3)
      $0.flag(&$1.isFullRange)
      $0.optional(&$1.color, ColorDescription()) { $1.code(&$0) }
    }
    c.optional(&chromaLocations, ChromaLocations(top: 0, bottom: 0)) {
      $0.ue(&$1.top, 0...5)
      $0.ue(&$1.bottom, 0...5)
    }
  }
}

/// aspect_ratio_idc (Table E-1) with sar_width and sar_height.
package struct SampleAspectRatio: Equatable, Sendable {
  /// aspect_ratio_idc. 0: unspecified; 1...16: a ratio of Table E-1; 255: `width` and `height`.
  package private(set) var idc = 0
  /// sar_width, or the width of the ratio in the table; 0: unspecified.
  package private(set) var width = 0
  /// sar_height, or the height of the ratio in the table; 0: unspecified.
  package private(set) var height = 0

  /// Table E-1: the ratio of each aspect_ratio_idc from 1 on.
  private static let table: [(width: Int, height: Int)] = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11),
    (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]
  private static let extended = 255

  /// Creates an unspecified ratio.
  package init() {}

  /// Creates a ratio, as an entry of Table E-1 where there is one that is equal.
  /// - Parameters:
  ///   - width: sar_width, 0...65535; only its ratio to `height` matters.
  ///   - height: sar_height, 0...65535.
  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
    let index = Self.table.firstIndex { $0 == (width, height) }
    idc = index.map { $0 + 1 } ?? Self.extended
  }

  /// The ratio; nil if it is unspecified.
  package var ratio: (width: Int, height: Int)? { width > 0 && height > 0 ? (width, height) : nil }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&idc, 8)
    if idc == Self.extended {
      c.u(&width, 16)
      c.u(&height, 16)
    } else if Coder.isReading, Self.table.indices.contains(idc - 1) {
      (width, height) = Self.table[idc - 1]
    }
  }
}

/// The clock tick: num_units_in_tick and time_scale.
package struct VideoTicks: Equatable, Sendable {
  /// The number of time units in a clock tick, 1 or more.
  package var unitsInTick: Int
  /// The number of time units in a second, 1 or more.
  package var timeScale: Int

  package init(unitsInTick: Int = 0, timeScale: Int = 0) {
    self.unitsInTick = unitsInTick
    self.timeScale = timeScale
  }

  /// Whether both are positive, as the standard requires. A stream that was read may have zeros.
  package var isValid: Bool { unitsInTick > 0 && timeScale > 0 }

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.u(&unitsInTick, 32)
    c.u(&timeScale, 32)
  }
}
