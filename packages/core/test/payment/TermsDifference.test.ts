import { type PaymentProof, type PaymentTerms } from "@agentos/core"
import { describe, expect, it } from "vitest"
import { findDifference } from "../../src/payment/PresentedPayments.ts"

const binding = { challengeNonce: "n", issuedAt: 1, expiresAt: 2, keyId: 1, binding: "b" }
const terms: PaymentTerms = {
  scheme: "exact",
  network: "eip155:196",
  asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  amount: 250_000n,
  payTo: "0x00000000000000000000000000000000000000AA",
  maxTimeoutSeconds: 120,
  extra: { name: "USD₮0", version: "1" }
}
type Accepted = PaymentProof["accepted"]
const accepted: Accepted = { ...terms, amount: "250000", extra: { ...terms.extra, ...binding } }

const CHANGES: ReadonlyArray<readonly [string, Partial<Accepted>, string | undefined]> = [
  ["nothing", {}, undefined],
  ["fields that the challenge lacks", { extra: { ...accepted.extra, more: "1" } }, undefined],
  ["another network", { network: "eip155:1" }, "No option of the challenge has its network and asset."],
  ["a dropped binding", { extra: terms.extra }, "accepted.extra lacks challengeNonce."],
  ["a dropped version", { extra: { ...binding, name: "USD₮0" } }, "accepted.extra lacks version."],
  ["another case of the token", { asset: terms.asset.toLowerCase() }, "accepted.asset is not that of the challenge."],
  ["another recipient", { payTo: terms.asset }, "accepted.payTo is not"],
  ["another amount", { amount: "1" }, "accepted.amount is not"],
  ["another validity", { maxTimeoutSeconds: 60 }, "accepted.maxTimeoutSeconds is not"],
  ["another name", { extra: { ...accepted.extra, name: "USDC" } }, "accepted.extra.name is not"],
  [
    "a name that was decoded as Latin-1",
    { extra: { ...accepted.extra, name: "USD\u00e2\u0082\u00ae0" } },
    "accepted.extra.name was decoded as Latin-1, for example by atob."
  ]
]

describe("the difference between accepted and offered terms", () => {
  it.each(CHANGES)("is found after %s", (_, change, expected) => {
    const found = findDifference([terms], { ...accepted, ...change })
    if (expected === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(expected)
  })
})
