// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Harnesses for libFuzzer. scripts/fuzz builds and runs them.
let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "OpenVideoToolbox", path: "..", traits: [.defaults, "X264", "X265"])],
  targets: [
    .target(name: "FuzzDriver"),
    .executableTarget(
      name: "fuzz-streams",
      dependencies: [
        "FuzzDriver",
        .product(name: "CoreMedia", package: "OpenVideoToolbox"),
        .product(name: "ElementaryStream", package: "OpenVideoToolbox"),
        .product(name: "H264Encoder", package: "OpenVideoToolbox"),
        .product(name: "HEVCEncoder", package: "OpenVideoToolbox"),
        .product(name: "HEVCReferenceDecoders", package: "OpenVideoToolbox"),
      ]),
    .executableTarget(
      name: "fuzz-movie",
      dependencies: ["FuzzDriver", .product(name: "AVFoundation", package: "OpenVideoToolbox")]),
    .executableTarget(
      name: "fuzz-audio-file",
      dependencies: ["FuzzDriver", .product(name: "AVFAudio", package: "OpenVideoToolbox")]),
    .executableTarget(
      name: "fuzz-media",
      dependencies: [
        "FuzzDriver",
        .product(name: "AVFoundation", package: "OpenVideoToolbox"),
        .product(name: "VideoToolbox", package: "OpenVideoToolbox"),
        .product(name: "ElementaryStream", package: "OpenVideoToolbox"),
        .product(name: "ImageIO", package: "OpenVideoToolbox"),
      ]),
    // No fuzzer, but long runs: built without sanitizers, see docs/reliability.md.
    .executableTarget(
      name: "endurance",
      dependencies: [
        .product(name: "AVFoundation", package: "OpenVideoToolbox"),
        .product(name: "VideoToolbox", package: "OpenVideoToolbox"),
      ]),
    .executableTarget(
      name: "fuzz-wire",
      dependencies: ["FuzzDriver", .product(name: "RealTimeTransport", package: "OpenVideoToolbox")]),
    .executableTarget(
      name: "fuzz-webrtc",
      dependencies: [
        "FuzzDriver",
        .product(name: "RealTimeTransport", package: "OpenVideoToolbox"),
        .product(name: "WebRTC", package: "OpenVideoToolbox"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
