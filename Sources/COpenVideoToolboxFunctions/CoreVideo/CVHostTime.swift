// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVGetCurrentHostTime() -> UInt64 {
  CoreVideo.CVGetCurrentHostTime()
}

@c @implementation
public func CVGetHostClockFrequency() -> Double {
  CoreVideo.CVGetHostClockFrequency()
}

@c @implementation
public func CVGetHostClockMinimumTimeDelta() -> UInt32 {
  CoreVideo.CVGetHostClockMinimumTimeDelta()
}
