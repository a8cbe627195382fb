// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import Testing

@testable import vtencode

/// Nothing waits by the time of day, which others set.
@Suite struct ClockTests {
  /// A library that tells a program that it is an hour later than the system's own waits go by: as
  /// if the clock had been set back in between.
  private static let shim = """
    #define _GNU_SOURCE
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>
    int clock_gettime(clockid_t clock, struct timespec *time) {
      int status = (int)syscall(SYS_clock_gettime, clock, time);
      if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += 3600;
      return status;
    }
    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      int status = clock_gettime(CLOCK_REALTIME, &now);
      time->tv_sec = now.tv_sec;
      time->tv_usec = now.tv_nsec / 1000;
      return status;
    }
    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }

    """

  @Test("A receiver whose sender is gone ends in time, though the time of day was set back by an hour")
  func aReceiverWhoseSenderIsGoneEndsInTime() throws {
    let folder = try Folder()
    try Data(Self.shim.utf8).write(to: folder.url.appendingPathComponent("shim.c"))
    let built = try CommandLine.shell(
      "'\(try CommandLine.compiler())' -shared -fPIC -o shim.so shim.c", in: folder)
    try #require(built.status == 0, "\(built.complaints)")
    // That the library works at all.
    let hour = try CommandLine.shell(
      "echo $(($(LD_PRELOAD=$PWD/shim.so date +%s) - $(date +%s)))", in: folder)
    try #require((3599...3601).contains(Int(hour.text.trimmingCharacters(in: .newlines)) ?? 0), "\(hour)")
    let port = try freeDatagramPort()
    let run = try CommandLine.shell(
      """
      mkfifo said
      LD_PRELOAD=$PWD/shim.so timeout -s KILL 60 '\(CommandLine.vtencode)' receive --listen \(port) --out a.264 \
        2> said &
      receiver=$!
      \(CommandLine.awaiting("Listening", in: "complaints.txt"))
      copier=$!
      LD_PRELOAD=$PWD/shim.so '\(CommandLine.vtencode)' send test:64x64@10 --frames 600 --speed 0 \
        --to 127.0.0.1:\(port) > sent.txt 2>&1 &
      sender=$!
      await $receiver grep -q Receiving complaints.txt
      await $receiver has_kilobytes '*/a.264' 1
      kill -KILL $sender
      wait $receiver
      status=$?
      wait $copier
      exit $status
      """, in: folder)
    let said = try String(contentsOfFile: folder.path("complaints.txt"), encoding: .utf8)
    #expect(run.status == 1 && said.contains("has said nothing for 10 s"), "\(run.status): \(said)")
    #expect(try Probe(folder.path("a.264")).frameCount() > 0)
  }

  @Test("A wait ends when it is woken, and else at its time")
  func aWaitEndsWhenItIsWoken() {
    let wake = WakeUp()
    var begin = SessionTime.now
    let isSignalled = wake.wait(seconds: 0.05)
    #expect(!isSignalled && SessionTime.now - begin >= 0.05)
    // Once, and also where it came before.
    wake.signal()
    begin = SessionTime.now
    wake.wait(seconds: 60)
    Thread { wake.signal() }.start()
    wake.wait(seconds: 60)
    #expect(SessionTime.now - begin < 30)
    let condition = MonotonicCondition()
    for end in [-1, 0, MonotonicCondition.now - 1, -Double.infinity] {
      let isWoken = condition.withLock { condition.wait(until: end) }
      #expect(!isWoken)
    }
    let inbox = DatagramInbox()
    Thread { inbox.wake() }.start()
    #expect(inbox.dequeue(until: .infinity).isEmpty)
    inbox.close()
    #expect(inbox.dequeue(until: .infinity).isEmpty && inbox.isClosed)
  }
}
