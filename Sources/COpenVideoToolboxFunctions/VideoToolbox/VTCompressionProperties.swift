// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTIsStereoMVHEVCEncodeSupported() -> UInt8 {
  VideoToolbox.VTIsStereoMVHEVCEncodeSupported() ? 1 : 0
}

@c @implementation
public func VTIsStereoMVHEVCDecodeSupported() -> UInt8 {
  VideoToolbox.VTIsStereoMVHEVCDecodeSupported() ? 1 : 0
}
