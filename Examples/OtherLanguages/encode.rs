// SPDX-License-Identifier: Apache-2.0
//! Encodes raw pictures (4:2:0, 8 bits, planar) into an H.264 stream.
//!
//!     rustc -O encode.rs $(pkg-config --libs-only-L openvideotoolbox) && ./encode 640 480 < in.yuv > out.h264
use std::io::{stdin, stdout, Read, Write};
use std::os::raw::c_void;
use std::ptr::{null, null_mut};

type Ref = *mut c_void;
type Callback = extern "C" fn(Ref, Ref, i32, u32, Ref);

#[repr(C)] #[derive(Clone, Copy)]
struct CMTime { value: i64, timescale: i32, flags: u32, epoch: i64 }

#[link(name = "OpenVideoToolbox")]
extern "C" {
    static kCMTimeInvalid: CMTime;
    fn VTCompressionSessionCreate(allocator: Ref, width: i32, height: i32, codec: u32, specification: Ref, attributes: Ref,
        data_allocator: Ref, callback: Callback, refcon: Ref, session: *mut Ref) -> i32;
    fn VTCompressionSessionEncodeFrame(s: Ref, buffer: Ref, time: CMTime, duration: CMTime, options: Ref, refcon: Ref, flags: *mut u32) -> i32;
    fn VTCompressionSessionCompleteFrames(session: Ref, until: CMTime) -> i32;
    fn VTCompressionSessionInvalidate(session: Ref);
    fn CVPixelBufferCreate(allocator: Ref, width: usize, height: usize, format: u32, attributes: Ref, buffer: *mut Ref) -> i32;
    fn CVPixelBufferLockBaseAddress(buffer: Ref, flags: u64) -> i32; fn CVPixelBufferUnlockBaseAddress(buffer: Ref, flags: u64) -> i32;
    fn CVPixelBufferGetBaseAddressOfPlane(buffer: Ref, plane: usize) -> *mut u8; fn CVPixelBufferGetBytesPerRowOfPlane(buffer: Ref, plane: usize) -> usize;
    fn CMSampleBufferGetDataBuffer(sample: Ref) -> Ref; fn CMSampleBufferGetFormatDescription(sample: Ref) -> Ref;
    fn CMBlockBufferGetDataPointer(block: Ref, offset: usize, length: *mut usize, total: *mut usize, bytes: *mut *const u8) -> i32;
    fn CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format: Ref, index: usize, set: *mut *const u8, size: *mut usize, count: *mut usize, header: *mut i32) -> i32;
    fn CFRelease(object: Ref);
}

fn write_unit(unit: &[u8]) { stdout().write_all(&[&[0, 0, 0, 1], unit].concat()).unwrap() }

extern "C" fn write(_: Ref, _: Ref, status: i32, _: u32, sample: Ref) {
    if status != 0 || sample.is_null() { return; }
    let (mut length, mut bytes) = (0, null());
    unsafe { CMBlockBufferGetDataPointer(CMSampleBufferGetDataBuffer(sample), 0, &mut length, null_mut(), &mut bytes) };
    let (mut rest, mut units) = (unsafe { std::slice::from_raw_parts(bytes, length) }, vec![]);
    while rest.len() > 4 {
        let size = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        units.push(&rest[4..4 + size]);
        rest = &rest[4 + size..];
    }
    let is_key = units.iter().any(|unit| unit[0] & 31 == 5);
    for index in 0..if is_key { 2 } else { 0 } {
        let (mut set, mut size) = (null(), 0);
        let format = unsafe { CMSampleBufferGetFormatDescription(sample) };
        unsafe { CMVideoFormatDescriptionGetH264ParameterSetAtIndex(format, index, &mut set, &mut size, null_mut(), null_mut()) };
        write_unit(unsafe { std::slice::from_raw_parts(set, size) });
    }
    units.into_iter().for_each(write_unit);
}

fn main() {
    let size: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("WIDTH HEIGHT")).collect();
    let (width, height, none, mut session) = (size[0], size[1], null_mut(), null_mut());
    let (mut picture, mut time) = (vec![0; width * height * 3 / 2], CMTime { value: 0, timescale: 30, flags: 1, epoch: 0 });
    unsafe {
        assert_eq!(VTCompressionSessionCreate(none, width as i32, height as i32, 0x61766331, none, none, none, write, none, &mut session), 0);
        while stdin().read_exact(&mut picture).is_ok() {
            let (mut buffer, mut at) = (null_mut(), 0);
            assert_eq!(CVPixelBufferCreate(none, width, height, 0x79343230, none, &mut buffer), 0);
            CVPixelBufferLockBaseAddress(buffer, 0);
            for (plane, part) in [1, 2, 2].into_iter().enumerate() {
                let (base, stride) = (CVPixelBufferGetBaseAddressOfPlane(buffer, plane), CVPixelBufferGetBytesPerRowOfPlane(buffer, plane));
                for row in 0..height / part {
                    base.add(row * stride).copy_from_nonoverlapping(&picture[at], width / part);
                    at += width / part;
                }
            }
            CVPixelBufferUnlockBaseAddress(buffer, 0);
            assert_eq!(VTCompressionSessionEncodeFrame(session, buffer, time, kCMTimeInvalid, none, none, null_mut()), 0);
            CFRelease(buffer);
            time.value += 1;
        }
        assert_eq!(VTCompressionSessionCompleteFrames(session, kCMTimeInvalid), 0);
        VTCompressionSessionInvalidate(session); // which lets the encoder go; the process ends here
    }
}
