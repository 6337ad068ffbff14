import { Base62, Uuid } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

describe("Base62", () => {
  it.prop(
    "decodes its own encoding",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))],
    ([numbers]) => {
      const bytes = Uint8Array.from(numbers)
      assert.deepStrictEqual(Base62.decode(Base62.encode(bytes), bytes.length), bytes)
    }
  )

  it("keeps leading zeros, so that all tokens have the same length", () => {
    assert.strictEqual(Base62.encode(new Uint8Array(3)), "00000")
    assert.deepStrictEqual(Base62.decode("00000", 3), new Uint8Array(3))
  })

  it("rejects other alphabets, other lengths and numbers that are too large", () => {
    for (const text of ["0000", "000000", "0000-", "0000é", "zzzzz"]) {
      assert.isUndefined(Base62.decode(text, 3), text)
    }
  })
})

const MILLIS = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 47 }))

describe("Uuid", () => {
  it("has the layout of RFC 9562, version 7", () => {
    const uuid = Uuid.fromParts(0x0123456789ab, (1n << 74n) - 1n)
    assert.strictEqual(uuid, "01234567-89ab-7fff-bfff-ffffffffffff")
    assert.deepStrictEqual(Uuid.toParts(uuid), { millis: 0x0123456789ab, random: (1n << 74n) - 1n })
  })

  it.effect("generates a UUID that its own schema accepts", () =>
    Effect.gen(function* () {
      const uuid = yield* Uuid.next
      assert.strictEqual(yield* Schema.decodeEffect(Uuid.Uuid)(uuid), uuid)
      assert.strictEqual(uuid[14], "7")
      assert.strictEqual(Uuid.fromBytes(Uuid.toBytes(uuid)), uuid)
    })
  )

  it.prop("increases for any clock and any random bits", [Schema.Array(MILLIS)], ([clock]) => {
    let last: string | undefined
    for (const [index, millis] of clock.entries()) {
      const next = Uuid.after(last, millis, BigInt((index * 7919) % 11))
      assert.isTrue(last === undefined || next > last, `${next} after ${last}`)
      last = next
    }
  })

  it("continues in the next millisecond when one is exhausted", () => {
    const full = Uuid.fromParts(5, (1n << 74n) - 1n)
    assert.strictEqual(Uuid.after(full, 5, 0n), Uuid.fromParts(6, 0n))
  })
})
