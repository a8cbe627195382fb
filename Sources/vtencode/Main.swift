import AVFoundation

@main struct Main {
  static func main() { print(CMTimeLine()) }
}
func CMTimeLine() -> CFString { "x" as CFString }
