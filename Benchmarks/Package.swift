// swift-tools-version: 6.2
import PackageDescription

// Measures H264Encoder against libx264 and libopenh264. A package of its own, so that the main one needs
// neither for it.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "OpenVideoToolbox", path: "..")],
  targets: [
    // libx264 and libopenh264 behind one small C interface.
    .target(
      name: "CReferenceEncoders",
      linkerSettings: [.linkedLibrary("x264"), .linkedLibrary("openh264")]),
    // Clips to raw frames, streams to pictures, and the comparison of pictures.
    .target(
      name: "CClipMedia",
      linkerSettings: [
        .linkedLibrary("avformat"), .linkedLibrary("avcodec"), .linkedLibrary("swscale"),
        .linkedLibrary("avutil"),
      ]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CReferenceEncoders", "CClipMedia",
        .product(name: "H264Encoder", package: "OpenVideoToolbox"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
