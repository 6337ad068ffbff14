import {
  PaymentRail,
  type PaymentProof,
  type PaymentTerms,
  ProofInvalid,
  ProofMalformed,
  ProviderError,
  type SettleAnswer,
  type Settlement
} from "@agentos/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"

/** What the facilitator does with the next settlement: as a whole, before it took effect, after, or not at all. */
export type SettleScript = "settle" | "refuse" | "lose the answer" | "fail before" | "use otherwise" | "hang"

/** A chain with one token, and a facilitator that does as it is told. */
export interface ScriptedRail {
  readonly rail: PaymentRail["Service"]
  /** What the next settlements do, in order; `settle` when it runs out. */
  readonly script: Array<SettleScript>
  /** How many transfers to us the chain has seen, by payer. */
  readonly transfers: ReadonlyMap<string, number>
  /** How often the facilitator was asked to settle. */
  readonly settleCalls: () => number
  /** Whether the facilitator's verification, or the chain, can't be reached; and whether it verifies anything at all. */
  readonly outage: { verify: boolean; chain: boolean; blind: boolean }
  /** Lets an authorization end as it may: never used in its time, or used for something else. */
  readonly end: (proof: PaymentProof, how: "expired" | "used otherwise") => void
  /** Uses up an authorization as a third party would. */
  readonly useNonce: (proof: PaymentProof) => void
}

const TERMS = {
  scheme: "exact",
  network: "eip155:402402",
  asset: "0x00000000000000000000000000000000000000a1",
  payTo: "0x00000000000000000000000000000000000000b2",
  maxTimeoutSeconds: 30,
  extra: { name: "USD₮0", version: "1" }
} as const

/** The header by which `payer` accepts the first terms of a challenge, with an authorization of its own. */
export const pay = (challenge: string, payer: string, nonce: string, change: Partial<PaymentProof> = {}): string => {
  const { accepts } = JSON.parse(challenge) as { accepts: ReadonlyArray<PaymentProof["accepted"]> }
  const accepted = accepts[0]!
  const proof: Omit<PaymentProof, "digest"> = {
    network: accepted.network,
    asset: accepted.asset,
    payer,
    payTo: accepted.payTo,
    value: BigInt(accepted.amount),
    nonce,
    validAfter: 0,
    validBefore: 10_000_000_000,
    accepted,
    payload: "{}",
    ...change
  }
  return JSON.stringify(proof, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value))
}

const decode = (header: string): PaymentProof => {
  const proof = JSON.parse(header) as PaymentProof
  return { ...proof, value: BigInt(proof.value), digest: createHash("sha256").update(header).digest("hex") }
}

export const make = (): ScriptedRail => {
  const script: Array<SettleScript> = []
  const transfers = new Map<string, number>()
  const used = new Map<string, Settlement>()
  const outage = { verify: false, chain: false, blind: false }
  let block = 1n
  let settleCalls = 0

  const unreachable = new ProviderError({ provider: "chain", reason: "Temporary", message: "unreachable" })
  const transfer = (proof: PaymentProof) => {
    if (used.has(proof.nonce)) return
    used.set(proof.nonce, { _tag: "Paid", transaction: `0x${proof.nonce}`, block: ++block })
    transfers.set(proof.payer, (transfers.get(proof.payer) ?? 0) + 1)
  }
  const settle = (proof: PaymentProof): SettleAnswer => {
    settleCalls++
    switch (script.shift() ?? "settle") {
      case "settle":
      case "hang":
        transfer(proof)
        return { _tag: "Accepted", transaction: `0x${proof.nonce}` }
      case "refuse":
        return { _tag: "Refused", message: "the facilitator refuses" }
      case "lose the answer":
        transfer(proof)
        return { _tag: "Unknown", message: "no answer" }
      case "fail before":
        return { _tag: "Unknown", message: "500" }
      case "use otherwise":
        used.set(proof.nonce, { _tag: "UsedOtherwise", message: "cancelled by its owner" })
        return { _tag: "Unknown", message: "500" }
    }
  }

  const rail = PaymentRail.of({
    terms: (amount): ReadonlyArray<PaymentTerms> => [{ ...TERMS, amount }],
    encodeChallenge: ({ accepts, error }) =>
      JSON.stringify({ error, accepts }, (_key, value: unknown) =>
        typeof value === "bigint" ? value.toString() : value
      ),
    decodeProof: (header) =>
      Effect.try({ try: () => decode(header), catch: () => new ProofMalformed({ message: "not a payment" }) }),
    authenticate: (proof) =>
      proof.payload === "forged" ? Effect.fail(new ProofInvalid({ message: "not signed by the payer" })) : Effect.void,
    verify: (proof) =>
      Effect.suspend((): Effect.Effect<void, ProofInvalid | ProviderError> => {
        if (outage.verify) return Effect.fail(unreachable)
        return used.has(proof.nonce) && !outage.blind
          ? Effect.fail(new ProofInvalid({ message: "nonce used" }))
          : Effect.void
      }),
    readNonce: (proof) =>
      Effect.suspend(() =>
        outage.chain ? Effect.fail(unreachable) : Effect.succeed({ used: used.has(proof.nonce), block })
      ),
    settle: (proof) =>
      Effect.suspend(() => {
        if (script[0] !== "hang") return Effect.succeed(settle(proof))
        script[0] = "settle"
        settle(proof)
        return Effect.never
      }),
    findSettlement: (proof) =>
      Effect.suspend(() =>
        outage.chain
          ? Effect.fail(unreachable)
          : Effect.succeed(used.get(proof.nonce) ?? ({ _tag: "Unused", expired: false } as const))
      ),
    encodeReceipt: (receipt) => `receipt ${receipt.transaction}`
  })

  const end: ScriptedRail["end"] = ({ nonce }, how) => {
    used.set(
      nonce,
      how === "expired"
        ? { _tag: "Unused", expired: true }
        : { _tag: "UsedOtherwise", message: "cancelled by its owner" }
    )
  }

  return { rail, script, transfers, settleCalls: () => settleCalls, outage, end, useNonce: transfer }
}
