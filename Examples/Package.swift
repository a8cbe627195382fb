// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Short programs to start from. In a package of your own, name OpenVideoToolbox by its address in
// place of the path.
//   swift run --package-path Examples DrawMovie drawn.mp4
let onLinux: [Target.Dependency] = [
  .product(name: "OpenVideoToolbox", package: "OpenVideoToolbox", condition: .when(platforms: [.linux]))
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "OpenVideoToolbox", path: "..", traits: [.defaults, "X264", "X265"])],
  targets: [
    // Each is the program of a guide; scripts/check-docs compares them with the guides' text.
    .executableTarget(name: "Encode", dependencies: onLinux),
    .executableTarget(name: "DrawMovie", dependencies: onLinux),
    .executableTarget(name: "Transcode", dependencies: onLinux),
    .executableTarget(name: "EncodeForACall", dependencies: onLinux),
    .executableTarget(name: "StreamLive", dependencies: onLinux),
    .executableTarget(name: "StreamToServer", dependencies: onLinux),
    .executableTarget(name: "TranscodeMany", dependencies: onLinux),
    // Without the trait Display it compiles, and says at run time that there is no window.
    .executableTarget(
      name: "PlayMovie",
      dependencies: onLinux + [
        .product(
          name: "OpenVideoToolboxDisplay", package: "OpenVideoToolbox",
          condition: .when(platforms: [.linux]))
      ]),
    .executableTarget(
      name: "Cookbook",
      dependencies: onLinux + [
        .product(
          name: "ElementaryStream", package: "OpenVideoToolbox", condition: .when(platforms: [.linux]))
      ]),
  ],
  swiftLanguageModes: [.v6]
)
