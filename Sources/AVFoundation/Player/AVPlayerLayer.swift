// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Presents a player's pictures.
///
/// There is no screen here: a window of `OpenVideoToolboxDisplay`, or `frameHandler`, a property of this package, has
/// them at the moment at which they are to be seen.
open class AVPlayerLayer: NSObject, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  package let content = AVSampleBufferDisplayLayer()
  private let lock = Lock()
  private var source: AVPlayer?

  public override init() { super.init() }

  public convenience init(player: AVPlayer?) {
    self.init()
    self.player = player
  }

  deinit { source?.remove(content) }

  open var player: AVPlayer? {
    get { lock.withLock { source } }
    set {
      let old = lock.withLock {
        defer { source = newValue }
        return source
      }
      guard old !== newValue else { return }
      old?.remove(content)
      newValue?.add(content)
    }
  }

  /// How the picture is fitted into `bounds`, or into a window.
  open var videoGravity: AVLayerVideoGravity {
    get { content.videoGravity }
    set { content.videoGravity = newValue }
  }

  open var bounds: CGRect {
    get { content.bounds }
    set { content.bounds = newValue }
  }

  /// Where the picture is in `bounds`; empty without one.
  open var videoRect: CGRect { content.videoRect }

  /// Whether a picture of the current item is there to be seen.
  open var isReadyForDisplay: Bool { content.shownPicture != nil }

  /// The picture that is seen; nil if there is none.
  @discardableResult
  open func copyDisplayedPixelBuffer() -> CVPixelBuffer? { content.shownPicture }

  /// Of this package, not Apple's: pictures that were shown, and that were over before they could be.
  open var ovtPictureCounts: (shown: Int, dropped: Int) { content.ovtPictureCounts }

  /// Of this package, not Apple's: see `AVSampleBufferDisplayLayer.FrameHandler`.
  @preconcurrency open var frameHandler: AVSampleBufferDisplayLayer.FrameHandler? {
    get { content.frameHandler }
    set { content.frameHandler = newValue }
  }
}
