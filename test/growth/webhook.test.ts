import { describe, it } from "vitest"
import { makeAnswerReader } from "@agentos/node/webhook"
import { verify } from "../../packages/provider-twilio/src/TwilioSignature.ts"
import { Redacted } from "effect"
import { expectLinear } from "../support/Growth.ts"

const SIZE_MAX = 1 << 18

const inOneBytePieces = (text: string): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(text)
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
}

const replies = (contentType: string) => (pieces: ReadonlyArray<Uint8Array>) => {
  const reader = makeAnswerReader(contentType, SIZE_MAX)
  let count = 0
  for (const piece of pieces) count += reader.take(piece).length
  return count + reader.end().length
}

describe("an agent's answer that arrives byte by byte", () => {
  it("is read in time that grows with its size, if it is one long line", () => {
    const make = (size: number) => inOneBytePieces(`{"text":"${"a".repeat(size - 11)}"}`)
    expectLinear({ make, read: replies("application/x-ndjson"), sizeMaxBytes: SIZE_MAX })
  })

  it("is read in time that grows with its size, if it is one object over many lines", () => {
    const make = (size: number) => inOneBytePieces(`{\n${"\n".repeat(size - 15)}"text":"a"\n}`)
    expectLinear({ make, read: replies("application/json"), sizeMaxBytes: SIZE_MAX })
  })
})

describe("the signature of a form", () => {
  // Anyone can send a form with a wrong signature.
  it("is checked in time that grows with the number of fields", () => {
    const FIELD = "x100000=1&"
    const make = (size: number) =>
      new URLSearchParams(
        Array.from({ length: size / FIELD.length }, (_, index): [string, string] => [`x${100_000 + index}`, "1"])
      )
    const read = (form: URLSearchParams) => verify(Redacted.make("token"), "https://a.example/", form, "wrong")
    expectLinear({ make, read, sizeMaxBytes: SIZE_MAX })
  })
})
