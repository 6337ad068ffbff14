import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CHALLENGE_LENGTH_MAX, challengeIssuer } from "../../src/payment/ChallengeIssuer.ts"
import type { PaymentRail } from "../../src/payment/PaymentRail.ts"
import type { PaymentTerms } from "../../src/payment/PaymentTerms.ts"
import { requestOf } from "../support/Purchase.ts"
import { testKeyring } from "../support/TestKeyring.ts"

const CREATE = "email.mailbox.create"

const termsOn = (network: string): PaymentTerms => ({
  scheme: "exact",
  network,
  asset: `0x${"5".repeat(40)}`,
  amount: 250_000n,
  payTo: `0x${"7".repeat(40)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USDT0", version: "1", decimals: 6 }
})

/** Issues challenges of a server that accepts payments on so many networks. Counts the encoders that it makes. */
const issuerOn = (count: number) => {
  const networks = Array.from({ length: count }, (_, index) => `eip155:${index + 1}`)
  const terms = networks.map(termsOn)
  const made: Array<number> = []
  let offers: ReadonlyArray<PaymentTerms> = terms
  const rail = {
    terms: () => terms,
    offers: () => offers,
    challengeEncoder: ({ accepts, error }) => {
      made.push(accepts.length)
      return (bindings) =>
        Buffer.from(
          JSON.stringify({
            error,
            accepts: bindings.map((binding, place) => ({
              ...accepts[place],
              amount: "250000",
              extra: { ...accepts[place]?.extra, ...binding }
            }))
          })
        ).toString("base64")
    }
  } satisfies Pick<PaymentRail["Service"], "offers" | "terms" | "challengeEncoder">
  const issue = challengeIssuer(rail, testKeyring([1], 1), { offers: () => ({}) })
  const request = requestOf(CREATE, {})
  const offered = (named: ReadonlyArray<string> = [], reason: string | null = null) =>
    Effect.map(issue({ ...request, networks: named }, reason), (header) => {
      assert.isAtMost(header.length, CHALLENGE_LENGTH_MAX)
      const { accepts } = JSON.parse(Buffer.from(header, "base64").toString()) as {
        readonly accepts: ReadonlyArray<PaymentTerms>
      }
      return accepts.map(({ network }) => network)
    })
  const sell = (...sold: ReadonlyArray<string>) => {
    offers = terms.filter(({ network }) => sold.includes(network))
  }
  return { networks, made, offered, sell }
}

describe("challengeIssuer", () => {
  it.effect("leaves out networks that are not sold now, and all but none from a refusal", () =>
    Effect.gen(function* () {
      const { networks, offered, sell } = issuerOn(3)
      assert.deepStrictEqual(yield* offered(), networks)
      sell("eip155:2")
      assert.deepStrictEqual(yield* offered(), ["eip155:2"])
      assert.deepStrictEqual(yield* offered(["eip155:1", "eip155:2"]), ["eip155:2"])
      sell()
      assert.deepStrictEqual(yield* offered([], "The payment has expired."), networks)
    })
  )

  it.effect("offers all networks that fit into a header, and finds them once a minute", () =>
    Effect.gen(function* () {
      const { made, networks, offered } = issuerOn(30)
      const first = yield* offered()
      assert.isAtLeast(first.length, 5)
      assert.deepStrictEqual(first, networks.slice(0, first.length))
      const tried = made.length
      assert.deepStrictEqual(yield* offered(), first)
      assert.strictEqual(made.length, tried)
      // A reason takes room.
      assert.isAtLeast((yield* offered([], "The payment is not valid. ".repeat(8))).length, first.length - 1)
    })
  )

  it.effect("offers any network to a client that names it", () =>
    Effect.gen(function* () {
      const { networks, offered } = issuerOn(30)
      assert.deepStrictEqual(yield* offered(["eip155:30", "eip155:2", "eip155:999"]), ["eip155:30", "eip155:2"])
      const all = yield* offered(networks.toReversed())
      assert.deepStrictEqual(all, networks.toReversed().slice(0, all.length))
    })
  )
})
