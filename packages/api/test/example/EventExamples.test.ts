import { EVENT_EXAMPLES } from "@agentos/api"
import { EVENT_RECORDS, EventRecord, EventType, operationEntry, Usdt } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("EVENT_EXAMPLES", () => {
  for (const type of EventType.literals) {
    it(`has an event ${type} that its record and the union accept`, () => {
      const example: unknown = EVENT_EXAMPLES[type]
      const options = { onExcessProperty: "error" } as const
      assert.deepStrictEqual<unknown>(Schema.decodeUnknownSync(EVENT_RECORDS[type], options)(example), example)
      assert.deepStrictEqual<unknown>(Schema.decodeUnknownSync(EventRecord, options)(example), example)
    })
  }

  it("has the price and the path of the renewal, and the price of a mailbox", () => {
    const renewal = operationEntry("renewNumber")
    const { price, renewalEndpoint } = EVENT_EXAMPLES["phone.number.expiring"].payload
    assert.deepStrictEqual(renewalEndpoint, { method: renewal.method, path: renewal.path })
    assert.deepStrictEqual(price, Usdt.toPrice(renewal.price ?? 0n))
    const mailbox = operationEntry("createMailbox")
    const paid = EVENT_EXAMPLES["payment.completed"].payload
    assert.strictEqual(paid.endpoint, `${mailbox.method} ${mailbox.path}`)
    assert.strictEqual(paid.baseUnits, `${mailbox.price}`)
    assert.deepStrictEqual(paid.price, Usdt.toPrice(mailbox.price ?? 0n))
  })
})
