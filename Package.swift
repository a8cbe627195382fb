// swift-tools-version: 6.2
import PackageDescription

// On Apple's systems the real frameworks exist and must not be shadowed: there the package offers
// only the modules that Apple does not have (the engine). A client depends on the products with
// `condition: .when(platforms: [.linux])` and its `import VideoToolbox` finds the right one.
#if canImport(Darwin)
  let isAppleHost = true
#else
  let isAppleHost = false
#endif

// MARK: - The engine: stands alone, builds anywhere

var products: [Product] = [
  .library(name: "H264Encoder", targets: ["H264Encoder"])
]

var targets: [Target] = [
  .target(
    name: "CH264Kernels",
    cSettings: [.define("NDEBUG", .when(configuration: .release))]
  ),
  .target(name: "H264Encoder", dependencies: ["CH264Kernels"]),
  .testTarget(name: "CH264KernelsTests", dependencies: ["CH264Kernels"]),
  .executableTarget(name: "kernel-bench", dependencies: ["CH264Kernels"]),
  .executableTarget(name: "rate-bench", dependencies: ["H264Encoder"]),
  .executableTarget(name: "count-allocations", dependencies: ["H264Encoder"]),
]

// MARK: - Apple's modules, and what they stand on, for Linux

if !isAppleHost {
  products += [
    .library(
      name: "OpenVideoToolbox",
      targets: [
        "CoreFoundation", "CoreVideo", "CoreMedia", "VideoToolbox", "AVFoundation",
        "UniformTypeIdentifiers",
      ]),
    .library(name: "CoreFoundation", targets: ["CoreFoundation"]),
    .library(name: "CoreVideo", targets: ["CoreVideo"]),
    .library(name: "CoreMedia", targets: ["CoreMedia"]),
    .library(name: "ElementaryStream", targets: ["ElementaryStream"]),
    .library(name: "VideoToolbox", targets: ["VideoToolbox"]),
    // For a program that brings a codec of its own.
    .library(name: "CodecInterface", targets: ["CodecInterface"]),
    .library(name: "AVFoundation", targets: ["AVFoundation"]),
    .library(name: "UniformTypeIdentifiers", targets: ["UniformTypeIdentifiers"]),
    .executable(name: "vtencode", targets: ["vtencode"]),
  ]

  targets += [
    .systemLibrary(
      name: "CFFmpeg", path: "Sources/System/CFFmpeg", pkgConfig: "libavformat",
      providers: [
        .apt(["libavformat-dev", "libavcodec-dev", "libavutil-dev", "libswresample-dev", "libswscale-dev"])
      ]),
    .systemLibrary(
      name: "CX264", path: "Sources/System/CX264", pkgConfig: "x264",
      providers: [.apt(["libx264-dev"])]),
    .systemLibrary(
      name: "CX265", path: "Sources/System/CX265", pkgConfig: "x265",
      providers: [.apt(["libx265-dev"])]),

    .target(name: "CCoreFoundation"),
    .target(name: "CoreFoundation", dependencies: ["CCoreFoundation"]),
    .target(name: "CoreVideo", dependencies: ["CoreFoundation"]),
    .target(name: "CoreMedia", dependencies: ["CoreVideo"]),
    .target(name: "ElementaryStream", dependencies: ["CoreMedia"]),
    .target(name: "CodecInterface", dependencies: ["CoreMedia"]),
    .testTarget(name: "CodecInterfaceTests", dependencies: ["CodecInterface"]),
    .target(
      name: "EncoderAdapterSupport", dependencies: ["CodecInterface"], path: "Tests/EncoderAdapterSupport"),
    .testTarget(
      name: "X264CodecTests", dependencies: ["X264Codec", "CodecInterface", "EncoderAdapterSupport"]),
    .testTarget(
      name: "X265CodecTests", dependencies: ["X265Codec", "CodecInterface", "EncoderAdapterSupport"]),
    .target(
      name: "X264Codec",
      dependencies: [
        "CodecInterface",
        .target(name: "CX264", condition: .when(traits: ["X264"])),
      ]),
    .target(
      name: "X265Codec",
      dependencies: [
        "CodecInterface",
        .target(name: "CX265", condition: .when(traits: ["X265"])),
      ]),
    .target(name: "H264Codec", dependencies: ["CodecInterface", "H264Encoder"]),
    .testTarget(
      name: "H264CodecTests",
      dependencies: ["H264Codec", "H264Encoder", "CodecInterface", "H264ReferenceDecoders"]),
    .target(name: "FFmpegMedia", dependencies: ["CodecInterface", "CoreMedia", "CFFmpeg"]),
    .testTarget(name: "FFmpegMediaTests", dependencies: ["FFmpegMedia", "CodecInterface"]),
    .target(
      name: "VideoToolbox",
      dependencies: [
        "CoreMedia", "CodecInterface", "H264Codec", "FFmpegMedia", "X264Codec", "X265Codec",
      ]),
    .target(name: "UniformTypeIdentifiers"),
    .target(
      name: "AVFoundation",
      dependencies: ["VideoToolbox", "FFmpegMedia", "CodecInterface", "UniformTypeIdentifiers"]),
    // For `vtencode call`: RTP, RTCP and a network that loses and delays, without a clock of its own.
    .target(name: "CallTransport"),
    .testTarget(name: "CallTransportTests", dependencies: ["CallTransport"]),
    .executableTarget(
      name: "decode-bench", dependencies: ["VideoToolbox", "FFmpegMedia", "CFFmpeg"]),
    .executableTarget(
      name: "vtencode",
      dependencies: [
        "AVFoundation", "CallTransport", "ElementaryStream", "VideoToolbox",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .target(
      name: "H264ReferenceDecoders", dependencies: ["CFFmpeg"], path: "Tests/H264ReferenceDecoders"),
    .testTarget(
      name: "H264EncoderTests", dependencies: ["H264Encoder", "CH264Kernels", "H264ReferenceDecoders"]),
    .testTarget(
      name: "VideoToolboxTests",
      dependencies: [
        "VideoToolbox", "ElementaryStream", "CodecInterface", "FFmpegMedia", "X264Codec", "X265Codec",
        "CFFmpeg",
      ]),
    .testTarget(name: "CoreFoundationTests", dependencies: ["CoreFoundation"]),
    .testTarget(name: "CoreVideoTests", dependencies: ["CoreVideo"]),
    .testTarget(
      name: "CoreMediaTests", dependencies: ["CoreMedia", .product(name: "BigInt", package: "BigInt")]),
    .testTarget(name: "ElementaryStreamTests", dependencies: ["ElementaryStream"]),
    // Runs the built program, as a person would.
    .testTarget(name: "vtencodeTests", dependencies: ["vtencode"]),
    .testTarget(name: "CallTests", dependencies: ["vtencode", "CallTransport", "VideoToolbox"]),
    .testTarget(name: "AVFoundationTests", dependencies: ["AVFoundation", "FFmpegMedia"]),
  ]
}

// For `make lint` and CI. It is not always on, because a newer compiler may know a new warning.
if Context.environment["OVT_WARNINGS_AS_ERRORS"] == "1" {
  for target in targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

let package = Package(
  name: "OpenVideoToolbox",
  platforms: [.macOS(.v15)],
  products: products,
  traits: [
    .trait(name: "X264", description: "H.264 through libx264 (GPL): reordering, look-ahead, multi-pass."),
    .trait(name: "X265", description: "HEVC Main and Main 10 through libx265 (GPL)."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // For tests alone: an independent model of CMTime's arithmetic.
    .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
  ],
  targets: targets,
  swiftLanguageModes: [.v6]
)
