import { assert, describe, it } from "@effect/vitest"
import { PassThrough } from "node:stream"
import { FrameGate, FRAGMENTS_MAX, type FrameVerdict } from "../../src/connection/FrameGate.ts"

/** A masked frame of a client (RFC 6455, section 5.2). */
const frame = (first: number, length: number): Buffer => {
  const head =
    length < 126
      ? [first, 0x80 | length]
      : length < 65_536
        ? [first, 0xfe, length >> 8, length & 255]
        : [first, 0xff, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]
  return Buffer.concat([Buffer.from(head), Buffer.alloc(4), Buffer.alloc(length, "x")])
}

const TEXT = 0x81
const FIRST = 0x01
const NEXT = 0x00
const LAST = 0x80
const PING = 0x89
const CLOSE = 0x88

/** A gate whose verdicts are those given, and then always the last of them. */
const gateOf = (...verdicts: ReadonlyArray<FrameVerdict>) => {
  const stream = new PassThrough()
  const passed: Array<Buffer> = []
  const seen = { frames: 0, refusals: 0 }
  stream.on("data", (chunk: Buffer) => passed.push(chunk))
  const gate = new FrameGate(stream, {
    take: () => verdicts[Math.min(seen.frames++, verdicts.length - 1)]!,
    refused: () => seen.refusals++
  })
  return { gate, seen, receive: (bytes: Buffer) => stream.emit("data", bytes), bytes: () => Buffer.concat(passed) }
}

const FRAMES = [
  frame(TEXT, 0),
  frame(PING, 125),
  frame(FIRST, 125),
  frame(PING, 0),
  frame(NEXT, 126),
  frame(LAST, 65_535),
  frame(TEXT, 65_536),
  frame(TEXT, 300_000),
  frame(CLOSE, 2)
]

describe("FrameGate", () => {
  for (const size of [1, 2, 3, 7, 130, 65_536, 1_000_000]) {
    it(`counts every frame once and changes no byte, in reads of ${size} bytes`, () => {
      const { bytes, receive, seen } = gateOf("admitted")
      const all = Buffer.concat(FRAMES)
      for (let start = 0; start < all.length; start += size) receive(all.subarray(start, start + size))
      assert.strictEqual(seen.frames, FRAMES.length)
      assert.isTrue(bytes().equals(all))
    })
  }

  it("passes nothing on from the first frame that is held, and continues there when it is released", () => {
    const { bytes, gate, receive, seen } = gateOf("admitted", "held", "admitted", "held", "admitted")
    receive(Buffer.concat(FRAMES.slice(0, 3)))
    assert.isTrue(bytes().equals(FRAMES[0]!))
    receive(FRAMES[3]!)
    assert.isTrue(bytes().equals(FRAMES[0]!))
    gate.release()
    assert.isTrue(bytes().equals(Buffer.concat(FRAMES.slice(0, 2))))
    gate.release()
    assert.isTrue(bytes().equals(Buffer.concat(FRAMES.slice(0, 4))))
    assert.strictEqual(seen.refusals, 0)
  })

  it("passes nothing on from the first frame that is refused", () => {
    const { bytes, gate, receive, seen } = gateOf("admitted", "refused")
    receive(Buffer.concat(FRAMES))
    receive(Buffer.concat(FRAMES))
    gate.release()
    assert.isTrue(bytes().equals(FRAMES[0]!))
    assert.deepStrictEqual(seen, { frames: 2, refusals: 1 })
  })

  it("refuses a message of too many fragments, and counts those of each message anew", () => {
    const { bytes, receive, seen } = gateOf("admitted")
    const fragments = [frame(FIRST, 1), ...Array.from({ length: FRAGMENTS_MAX - 2 }, () => frame(NEXT, 1))]
    const whole = Buffer.concat([...fragments, frame(PING, 1), frame(LAST, 1)])
    receive(whole)
    receive(whole)
    assert.strictEqual(seen.refusals, 0)
    receive(Buffer.concat([...fragments, frame(NEXT, 0), frame(NEXT, 0)]))
    assert.strictEqual(seen.refusals, 1)
    assert.isTrue(bytes().equals(Buffer.concat([whole, whole, ...fragments, frame(NEXT, 0)])))
  })

  it("passes nothing on behind a close frame", () => {
    const { bytes, receive, seen } = gateOf("admitted")
    receive(Buffer.concat([frame(TEXT, 1), frame(CLOSE, 2), frame(TEXT, 1)]))
    receive(frame(TEXT, 1))
    assert.isTrue(bytes().equals(Buffer.concat([frame(TEXT, 1), frame(CLOSE, 2)])))
    assert.strictEqual(seen.frames, 2)
  })
})
