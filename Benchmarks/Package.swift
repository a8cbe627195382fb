// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The tools that measure OpenVideoToolbox. A package of its own, so that the main one needs none of
// it.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let engine = Target.Dependency.product(name: "H264Encoder", package: "OpenVideoToolbox")
let videoToolbox = Target.Dependency.product(
  name: "VideoToolbox", package: "OpenVideoToolbox", condition: .when(platforms: [.linux]))

// CI measures without the GPL encoders.
let traits: Set<Package.Dependency.Trait> =
  Context.environment["OVT_WITHOUT_TRAITS"] == "1" ? [.defaults] : [.defaults, "X264", "X265"]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "OpenVideoToolbox", path: "..", traits: traits),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // MARK: What the tools share

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
    // Replaces malloc and its kin in the program that links it.
    .target(name: "CAllocationCounter"),
    // Replaces what threads wait with in the program that links it.
    .target(name: "CWaitCounter"),
    // Clips, streams and their quality, figures, tables, thresholds.
    .target(name: "BenchmarkSupport", dependencies: ["CClipMedia", argumentParser]),
    // Pictures and frames as sessions have them.
    .target(name: "SessionSupport", dependencies: ["BenchmarkSupport", videoToolbox]),

    // MARK: The engine

    .executableTarget(name: "bench", dependencies: ["BenchmarkSupport", "CReferenceEncoders", engine]),
    .executableTarget(name: "kernel-bench", dependencies: [engine]),
    .executableTarget(name: "rate-bench", dependencies: ["BenchmarkSupport", engine]),
    .executableTarget(
      name: "screen-bench", dependencies: ["BenchmarkSupport", "CReferenceEncoders", "CClipMedia", engine]),
    .executableTarget(name: "thread-bench", dependencies: ["BenchmarkSupport", "CWaitCounter", engine]),

    // MARK: The sessions

    .executableTarget(
      name: "count-allocations",
      dependencies: ["BenchmarkSupport", "SessionSupport", "CAllocationCounter", engine]),
    .executableTarget(name: "decode-bench", dependencies: ["SessionSupport"]),
    .executableTarget(name: "silo-bench", dependencies: ["BenchmarkSupport", videoToolbox]),
    // Runs `vtencode call` for the tables of losses and steps.
    .executableTarget(name: "lowlat-tables", dependencies: ["SessionSupport"]),
  ],
  swiftLanguageModes: [.v6]
)
