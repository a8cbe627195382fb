// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMTimeAdd(_ lhs: C_CMTime, _ rhs: C_CMTime) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeAdd(FromC.value(lhs), FromC.value(rhs)))
}

@c @implementation
public func CMTimeSubtract(_ lhs: C_CMTime, _ rhs: C_CMTime) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeSubtract(FromC.value(lhs), FromC.value(rhs)))
}

@c @implementation
public func CMTimeCompare(_ time1: C_CMTime, _ time2: C_CMTime) -> Int32 {
  CoreMedia.CMTimeCompare(FromC.value(time1), FromC.value(time2))
}

@c @implementation
public func CMTimeMinimum(_ time1: C_CMTime, _ time2: C_CMTime) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMinimum(FromC.value(time1), FromC.value(time2)))
}

@c @implementation
public func CMTimeMaximum(_ time1: C_CMTime, _ time2: C_CMTime) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMaximum(FromC.value(time1), FromC.value(time2)))
}

@c @implementation
public func CMTimeCopyAsDictionary(_ time: C_CMTime, _ allocator: OpaquePointer?) -> OpaquePointer? {
  ToC.retained(CoreMedia.CMTimeCopyAsDictionary(FromC.value(time), allocator: FromC.allocator(allocator)))
}

@c @implementation
public func CMTimeMakeFromDictionary(_ dictionaryRepresentation: OpaquePointer?) -> C_CMTime {
  guard let dictionaryRepresentation = FromC.optionalDictionary(dictionaryRepresentation) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMTimeMakeFromDictionary(dictionaryRepresentation))
}

@c @implementation
public func CMTimeCopyDescription(_ allocator: OpaquePointer?, _ time: C_CMTime) -> OpaquePointer? {
  ToC.retained(
    CoreMedia.CMTimeCopyDescription(allocator: FromC.allocator(allocator), time: FromC.value(time)))
}

@c @implementation
public func CMTimeShow(_ time: C_CMTime) {
  CoreMedia.CMTimeShow(FromC.value(time))
}

@c @implementation
public func CMTimeMultiply(_ time: C_CMTime, _ multiplier: Int32) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMultiply(FromC.value(time), multiplier: multiplier))
}

@c @implementation
public func CMTimeMultiplyByRatio(_ time: C_CMTime, _ multiplier: Int32, _ divisor: Int32) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMultiplyByRatio(FromC.value(time), multiplier: multiplier, divisor: divisor))
}

@c @implementation
public func CMTimeMultiplyByFloat64(_ time: C_CMTime, _ multiplier: Double) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMultiplyByFloat64(FromC.value(time), multiplier: multiplier))
}

@c @implementation
public func CMTimeConvertScale(_ time: C_CMTime, _ newTimescale: Int32, _ method: UInt32) -> C_CMTime {
  guard let method = CMTimeRoundingMethod(rawValue: method) else {
    return ToC.value(CoreMedia.CMTime.invalid)
  }
  return ToC.value(CoreMedia.CMTimeConvertScale(FromC.value(time), timescale: newTimescale, method: method))
}

@c @implementation
public func CMTimeMake(_ value: Int64, _ timescale: Int32) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMake(value: value, timescale: timescale))
}

@c @implementation
public func CMTimeMakeWithEpoch(_ value: Int64, _ timescale: Int32, _ epoch: Int64) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMakeWithEpoch(value: value, timescale: timescale, epoch: epoch))
}

@c @implementation
public func CMTimeMakeWithSeconds(_ seconds: Double, _ preferredTimescale: Int32) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeMakeWithSeconds(seconds, preferredTimescale: preferredTimescale))
}

@c @implementation
public func CMTimeGetSeconds(_ time: C_CMTime) -> Double {
  CoreMedia.CMTimeGetSeconds(FromC.value(time))
}

@c @implementation
public func CMTimeAbsoluteValue(_ time: C_CMTime) -> C_CMTime {
  ToC.value(CoreMedia.CMTimeAbsoluteValue(FromC.value(time)))
}
