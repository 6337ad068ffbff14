import { OPERATIONS } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"

const decode = Schema.decodeUnknownOption(OPERATIONS.acknowledgeAllEvents.payload)
const before = (text: string) => Option.map(decode({ before: text }), (input) => Number(input.before))

describe("DateTime", () => {
  it("reads moments with any offset to the millisecond", () => {
    assert.deepStrictEqual(before("2026-11-21T08:00:00Z"), Option.some(Date.UTC(2026, 10, 21, 8)))
    assert.deepStrictEqual(before("2026-11-21T10:00:00+02:00"), Option.some(Date.UTC(2026, 10, 21, 8)))
    assert.deepStrictEqual(before("2026-11-21T08:00:00.123456Z"), Option.some(Date.UTC(2026, 10, 21, 8, 0, 0, 123)))
    assert.deepStrictEqual(before("1901-01-01T00:00:00Z"), Option.some(0))
    assert.deepStrictEqual(before("2028-02-29T23:30:00-01:00"), Option.some(Date.UTC(2028, 2, 1, 0, 30)))
  })

  it("rejects text that is not a moment", () => {
    const refused = ["", "yesterday", "2026-11-21", "2026-11-21T08:00:00", "2026-13-01T00:00:00Z", "1763712000000"]
    refused.push("2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-31T00:00:00+02:00")
    for (const text of refused) assert.isTrue(Option.isNone(before(text)), text)
  })
})
