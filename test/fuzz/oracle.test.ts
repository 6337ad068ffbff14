import { describe, expect, it } from "vitest"
import { inputOf } from "./Campaign.ts"
import type { HttpAnswer } from "./HttpConnection.ts"
import { AnswerReader } from "./HttpConnection.ts"
import type { Json } from "./Mutation.ts"
import { Oracle } from "./Oracle.ts"
import { shrink } from "./Shrink.ts"
import { TARGETS } from "./target/Targets.ts"
import { OPCODE, readFrames, textFrame } from "./WebSocketFrame.ts"

const REQUEST_ID = "01890000-0000-7000-8000-000000000000"
const ENVELOPE = {
  error: { code: "RESOURCE_NOT_FOUND", message: "No such thing.", requestId: REQUEST_ID, retryable: false },
  guides: {}
}

const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpAnswer => ({
  status,
  headers: new Map(Object.entries({ "x-request-id": REQUEST_ID, ...headers })),
  body: typeof body === "string" ? body : JSON.stringify(body)
})

const rulesOf = (given: HttpAnswer): ReadonlyArray<string> =>
  new Oracle(["canary123"]).examineAnswer(given, { hasEnvelope: true }).map(({ rule }) => rule)

describe("the oracle", () => {
  it("accepts an error in the envelope, and a success", () => {
    expect(rulesOf(answer(404, ENVELOPE))).toEqual([])
    expect(rulesOf(answer(200, { data: {} }))).toEqual([])
  })

  it.each([
    ["a 500", answer(500, { ...ENVELOPE, error: { ...ENVELOPE.error, code: "INTERNAL_ERROR" } }), "no answer is a 500"],
    ["an error without the envelope", answer(404, "Not found"), "errors have the envelope"],
    ["a code of another status", answer(400, ENVELOPE), "errors have the envelope"],
    [
      "an unknown code",
      answer(404, { ...ENVELOPE, error: { ...ENVELOPE.error, code: "X" } }),
      "errors have the envelope"
    ],
    ["another requestId", answer(404, ENVELOPE, { "x-request-id": "x" }), "errors have the envelope"],
    ["a redirect", answer(302, ""), "nothing redirects"],
    ["a canary in a body", answer(200, { data: "xcanary123x" }), "answers hold no other tenant's data"],
    ["a canary in a header", answer(200, {}, { link: "canary123" }), "answers hold no other tenant's data"],
    ["a stack trace", answer(200, "Error: x\n    at f (/a/b.ts:1:2)"), "answers show nothing of the inside"]
  ])("finds %s", (_, given, rule) => {
    expect(rulesOf(given)).toEqual([rule])
  })
})

describe("a case", () => {
  it.each(TARGETS)("is the same for the same seed and number, and can be kept as JSON: $name", (target) => {
    const inputs = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => inputOf(target, 7, number))
    expect(inputs).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((number) => inputOf(target, 7, number)))
    expect(JSON.parse(JSON.stringify(inputs))).toEqual(inputs)
    expect(new Set(inputs.map((input) => JSON.stringify(input))).size).toBeGreaterThan(4)
  })

  it("is shrunk to what breaks the promise", async () => {
    const breaks = async (input: Json) => JSON.stringify(input).includes("!")
    expect(await shrink({ pieces: ["some text", "more! text", "x".repeat(100)] }, breaks)).toEqual({ pieces: ["!"] })
  })
})

describe("the wire", () => {
  it("reads pipelined answers, with lengths and in chunks", () => {
    const reader = new AnswerReader()
    reader.push(
      Buffer.from(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 404 Not Found\r\n"
      )
    )
    reader.push(Buffer.from("Transfer-Encoding: chunked\r\n\r\n2\r\ncd\r\n0\r\n\r\n"))
    expect([reader.take(), reader.take(), reader.take()].map((one) => one && [one.status, one.body])).toEqual([
      [200, "ab"],
      [404, "cd"],
      undefined
    ])
  })

  it("reads the frames that it writes", () => {
    const unmasked = (text: string) => {
      const frame = textFrame(text)
      const headLength = frame.length - text.length - 4
      const head = Buffer.from(frame.subarray(0, headLength))
      head[1] = head[1]! & 127
      return Buffer.concat([head, Buffer.from(text)])
    }
    const texts = ["a", "b".repeat(200), "c".repeat(70_000)]
    const frames = readFrames(Buffer.concat(texts.map(unmasked)))
    expect(frames.map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual(
      texts.map((text) => [OPCODE.text, text])
    )
  })
})
