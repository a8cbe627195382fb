// swift-tools-version: 6.2
import PackageDescription

// What OpenVideoToolbox is measured with. A package of its own, so that the main one needs none of it.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
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
    // What the tools share: clips, streams and their quality, results.
    .target(name: "BenchmarkSupport", dependencies: ["CClipMedia"]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "BenchmarkSupport", "CReferenceEncoders",
        .product(name: "H264Encoder", package: "OpenVideoToolbox"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
