// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import OpenVideoToolboxDisplay

/// Shows a movie in a window.
final class WindowScreen: PlayScreen, @unchecked Sendable {
  // Sendable: its properties are.
  private let window: OVTDisplayWindow
  private weak var session: PlaySession?

  /// - Throws: a `Failure` with advice if no window can be opened.
  init(_ session: PlaySession, title: String) throws {
    self.session = session
    // The movie is already open here, so the window gets its size.
    let asset = session.item.asset
    let track = asset.tracks(withMediaType: .video).first(where: \.isDecodable)
    var size = CGSize(width: 640, height: 120)
    if let track {
      let turned = track.naturalSize.applying(track.preferredTransform)
      size = CGSize(width: abs(turned.width), height: abs(turned.height))
    }
    do {
      window = try OVTDisplayWindow(
        title: title, width: Int(clamping: Double(size.width)), height: Int(clamping: Double(size.height)))
    } catch let error as OVTDisplayError {
      throw Failure("cannot open a window: \(error.reason); --terminal plays without one")
    }
    if !session.showsNoBar {
      window.setProgressBar(
        fraction: { [weak session] in session?.fraction }, text: { [weak session] in session?.clock ?? "" })
    }
    window.eventHandler = { [weak session] event in
      guard let session, let command = Self.command(for: event) else { return }
      session.post(command)
    }
    session.layer.frameHandler = { [weak session] image, time in
      if image != nil, time.isNumeric { session?.shown(time) }
    }
    window.attach(session.layer)
  }

  private static func command(for event: OVTDisplayEvent) -> PlayCommand? {
    switch event {
    case .closeRequest, .key(.escape), .key(.character("q")): .quit
    case .key(.space): .toggle
    case .key(.left): .back
    case .key(.right): .forward
    case .key(.up): .louder
    case .key(.down): .softer
    case .key(.character(".")): .stepForward
    case .key(.character(",")): .stepBack
    case .key(.character("f")): .fullScreen
    case .click(let x, let y) where y > 0.9: .go(x)
    default: nil
    }
  }

  var result: (shown: Int, dropped: Int, errors: [Double], note: String) {
    let figures = window.statistics
    let refresh = figures.refreshRate > 0 ? ", \(TextFormat.fixed(figures.refreshRate, 0)) Hz" : ""
    return (
      figures.shown, figures.dropped, figures.errors, "\(figures.renderer) on \(figures.driver)\(refresh)"
    )
  }

  var isFullScreen: Bool { window.isFullScreen }
  func setFullScreen(_ isFull: Bool) { window.isFullScreen = isFull }

  func update() {
    // While the movie plays, the bar is redrawn with every frame.
    if session?.player.timeControlStatus != .playing { window.setNeedsDisplay() }
  }

  func snapshot() throws -> CVPixelBuffer {
    // The bar belongs to the player and not to the movie.
    window.removeProgressBar()
    do { return try window.snapshot() } catch let error as OVTDisplayError { throw Failure(error.reason) }
  }

  func close() { window.close() }
}
