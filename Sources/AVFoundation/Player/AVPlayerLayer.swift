// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Shows the pictures of a player.
///
/// The layer has no screen. Its pictures are shown by a window of `OpenVideoToolboxDisplay`, or
/// passed to `frameHandler`, a property that this package adds, when they are to be seen.
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

  /// The rectangle of the picture in `bounds`; empty without a picture.
  open var videoRect: CGRect { content.videoRect }

  /// Whether a picture of the current item is shown.
  open var isReadyForDisplay: Bool { content.shownPicture != nil }

  /// The picture that is shown, or nil.
  @discardableResult
  open func copyDisplayedPixelBuffer() -> CVPixelBuffer? { content.shownPicture }

  /// The numbers of pictures that were shown, and of those that were dropped because a later one
  /// was due. This property is an addition of this package.
  open var ovtPictureCounts: (shown: Int, dropped: Int) { content.ovtPictureCounts }

  /// Receives pictures when they are to be seen; see `AVSampleBufferDisplayLayer.FrameHandler`.
  /// This property is an addition of this package.
  @preconcurrency open var frameHandler: AVSampleBufferDisplayLayer.FrameHandler? {
    get { content.frameHandler }
    set { content.frameHandler = newValue }
  }
}
