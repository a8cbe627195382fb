// SPDX-License-Identifier: Apache-2.0
// Swift Testing declares an overlay of this name for files that import both it and CoreGraphics, on
// every platform, and ships it for Apple's alone. Without a module of the name no test could import
// CoreGraphics. There is nothing in it.
