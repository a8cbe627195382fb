// SPDX-License-Identifier: Apache-2.0
// Plays a movie in a window with its audio. Build it with the trait Display.
//   PlayMovie MOVIE
import AVFoundation
import OpenVideoToolboxDisplay

@main
struct PlayMovie {
  static func main() async throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: PlayMovie MOVIE") }
    let player = AVPlayer(url: URL(fileURLWithPath: CommandLine.arguments[1]))
    player.ovtAudioSink = OVTAudioDevice()
    let window = try OVTDisplayWindow(title: "A movie", width: 1280, height: 720)
    window.attach(AVPlayerLayer(player: player))
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: AVPlayerItem.didPlayToEndTimeNotification, object: player.currentItem, queue: nil
    ) { _ in end.finish() }
    player.play()
    for await _ in ends {}
    NotificationCenter.default.removeObserver(observer)
  }
}
