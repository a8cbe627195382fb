// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Programs in the shape that Apple's documentation teaches, as a package that depends on
// OpenVideoToolbox from outside. `scripts/test-clients` builds it in Swift 5 and in Swift 6 mode
// and runs each program.
let isSwift5 = Context.environment["CLIENT_SWIFT_MODE"] == "5"

func product(_ name: String) -> Target.Dependency {
  .product(name: name, package: "OpenVideoToolbox", condition: .when(platforms: [.linux]))
}

let package = Package(
  name: "ClientPrograms",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "OpenVideoToolbox", path: "../..", traits: [.defaults, "X264", "X265"])],
  targets: [
    .executableTarget(
      name: "Conferencing", dependencies: [product("VideoToolbox"), product("AVFoundation")]),
    // A resource loader's delegate, with a log.
    .executableTarget(name: "Archive", dependencies: [product("AVFoundation"), product("OSLog")]),
    .executableTarget(name: "Editor", dependencies: [product("OpenVideoToolbox")]),
    .executableTarget(name: "ModernSwift", dependencies: [product("VideoToolbox"), product("AVFoundation")]),
    .executableTarget(name: "Names", dependencies: [product("OpenVideoToolbox")]),
    .executableTarget(
      name: "Thumbnails",
      dependencies: [product("OpenVideoToolbox"), product("CoreGraphics"), product("ImageIO")]),
    .executableTarget(name: "Idioms", dependencies: [product("OpenVideoToolbox")]),
    // Every import line that audio has on macOS, over the umbrella alone.
    .executableTarget(name: "Audio", dependencies: [product("OpenVideoToolbox")]),
    .executableTarget(name: "Streaming", dependencies: [product("VideoToolbox"), product("AVFoundation")]),
    .executableTarget(name: "Transcoding", dependencies: [product("VideoToolbox"), product("AVFoundation")]),
    .executableTarget(
      name: "IgnoredResults", dependencies: [product("VideoToolbox"), product("AVFoundation")]),
    .executableTarget(
      name: "OwnCodec", dependencies: [product("VideoToolbox"), product("CodecInterface")]),
    .target(name: "Geometry"),
    .executableTarget(
      name: "Recorder",
      dependencies: ["Geometry", product("VideoToolbox"), product("AVFoundation"), product("os")],
      // The meaning of `import os` (docs/compatibility.md).
      swiftSettings: [.unsafeFlags(["-module-alias", "os=OpenVideoToolboxOS"], .when(platforms: [.linux]))]),
    .executableTarget(name: "Tutorial", dependencies: [product("OpenVideoToolbox")]),
    .executableTarget(name: "Workflows", dependencies: [product("OpenVideoToolbox")]),
  ],
  swiftLanguageModes: [isSwift5 ? .v5 : .v6]
)
