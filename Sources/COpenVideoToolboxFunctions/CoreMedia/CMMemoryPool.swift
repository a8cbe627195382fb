// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMMemoryPoolGetTypeID() -> UInt {
  CoreMedia.CMMemoryPoolGetTypeID()
}

@c @implementation
public func CMMemoryPoolCreate(_ options: OpaquePointer?) -> OpaquePointer? {
  guard let options = FromC.optionalDictionary(options) else { return nil }
  return ToC.retained(CoreMedia.CMMemoryPoolCreate(options: options))
}

@c @implementation
public func CMMemoryPoolFlush(_ pool: OpaquePointer?) {
  guard let pool = FromC.object(pool, CMMemoryPool.self) else { return }
  CoreMedia.CMMemoryPoolFlush(pool)
}

@c @implementation
public func CMMemoryPoolInvalidate(_ pool: OpaquePointer?) {
  guard let pool = FromC.object(pool, CMMemoryPool.self) else { return }
  CoreMedia.CMMemoryPoolInvalidate(pool)
}
