import { type OperationStore, type PaymentRail, ProofInvalid, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { CONFIRMATIONS } from "../../support/SimulatedChain.ts"
import { check, HISTORIES } from "./Check.ts"
import type { Breakage } from "./Deployment.ts"

type Rail = PaymentRail["Service"]
type Operations = OperationStore["Service"]

/** Defects of the core or one of its ports that the model must detect. The keys are test titles. */
const BROKEN: Readonly<Record<string, Breakage>> = {
  "the refund of a canceled message is missing in the ledger": {
    operations: (store: Operations): Operations => ({
      ...store,
      advance: (known, { entries = [], ...move }) =>
        store.advance(known, { ...move, entries: known.state === "fulfilled" ? [] : entries })
    })
  },
  "the completion of a canceled message is taken back": {
    operations: (store: Operations): Operations => ({
      ...store,
      advance: (known, { change, ...move }) =>
        store.advance(known, { ...move, change: known.state === "fulfilled" ? { ...change, answer: null } : change })
    })
  },
  "one transfer proves two operations": {
    operations: (store: Operations): Operations => ({
      ...store,
      claimTransfer: (_, candidates) => Effect.succeed(Option.fromUndefinedOr(candidates[0]))
    })
  },
  "a used nonce counts as a payment": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (...asked) =>
        Effect.map(rail.findSettlement(...asked), (found) =>
          found._tag === "UsedOtherwise" ? { _tag: "Paid", transaction: "0x0", block: 0n } : found
        )
    })
  },
  "the facilitator's acceptance counts as a payment": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (proof, terms, afterBlock, transaction) =>
        transaction === undefined
          ? rail.findSettlement(proof, terms, afterBlock)
          : Effect.succeed({ _tag: "Paid", transaction, block: 0n })
    })
  },
  "an unknown settlement counts as a refusal": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      settle: (...asked) =>
        Effect.map(rail.settle(...asked), (answer) =>
          answer._tag === "Unknown" ? { _tag: "Refused", message: answer.message } : answer
        )
    })
  },
  "a previously used authorization counts as unused": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      readNonce: (proof) => Effect.map(rail.readNonce(proof), ({ block }) => ({ used: false, block }))
    })
  },
  "a nonce is read in a block that can be reorganized": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      readNonce: (proof) =>
        Effect.map(rail.readNonce(proof), ({ block, used }) => ({ used, block: block + BigInt(CONFIRMATIONS) }))
    })
  },
  "an authorization is revealed before the claim": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      verify: (proof, terms) => Effect.andThen(rail.verify(proof, terms), rail.simulate(proof, terms))
    })
  },
  "an unavailable simulation counts as a failed one": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      simulate: (...asked) =>
        Effect.catchTag(rail.simulate(...asked), "ProviderError", ({ message }) => new ProofInvalid({ message }))
    })
  },
  "a third party's submission counts as older than its challenge": {
    rail: (rail: Rail): Rail => ({ ...rail, blockBefore: () => Effect.succeed(10_000_000_000n) })
  },
  "an authorization is given up while it can still be used": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (...asked) =>
        Effect.map(rail.findSettlement(...asked), (found) =>
          found._tag === "Unused" ? { _tag: "Unused", expired: true } : found
        )
    })
  },
  "a payment counts before it is confirmed": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (...asked) =>
        Effect.map(rail.findSettlement(...asked), (found) =>
          found._tag === "Unsettled" ? { _tag: "Paid", transaction: "0x0", block: 0n } : found
        )
    })
  },
  "every attempt refunds under a new nonce": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      refund: (refund) =>
        Effect.flatMap(Timestamp.now, (now) => rail.refund({ ...refund, nonce: `${refund.nonce}${now}` }))
    })
  },
  "a refund counts as made before the chain shows it": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      refund: (refund) => Effect.as(rail.refund(refund), { _tag: "Paid", transaction: "0x0" })
    })
  },
  "a possibly lost mail counts as sent": {
    provider: (provider) => ({
      ...provider,
      send: (mail) =>
        Effect.catch(provider.send(mail), () => Effect.succeed({ accepted: mail.to, rejected: [], response: "250" }))
    })
  },
  "a local part stays reserved for an operation that was never paid": {
    mailboxes: (store) => ({ ...store, release: () => Effect.void })
  },
  "the ledger is not written": {
    operations: (store: Operations): Operations => ({
      ...store,
      advance: (known, move) => store.advance(known, { ...move, entries: [] })
    })
  },
  "a payment that is fulfilled at once is missing in the ledger": {
    operations: (store: Operations): Operations => ({
      ...store,
      advance: (known, { entries = [], ...move }) =>
        store.advance(known, {
          ...move,
          entries: known.state === "settling" && move.to === "fulfilled" ? [] : entries
        })
    })
  },
  "a lease is not renewed during an external call": {
    operations: (store: Operations): Operations => ({
      ...store,
      setNextAttempt: (operationId, fence, next) =>
        next.kind === "leased" ? Effect.succeed(true) : store.setNextAttempt(operationId, fence, next)
    })
  },
  "a takeover keeps the old fence": {
    operations: (store: Operations): Operations => ({
      ...store,
      takeDue: (...asked) =>
        Effect.map(store.takeDue(...asked), (taken) => taken.map((each) => ({ ...each, fence: each.fence - 1 })))
    })
  },
  "no server takes over the operations of a dead server": {
    operations: (store: Operations): Operations => ({ ...store, takeDue: () => Effect.succeed([]) })
  },
  "the end of an operation has no event": {
    events: (store) => ({ ...store, append: () => Effect.succeed([]) })
  }
}

describe("the model", () => {
  for (const [what, breakage] of Object.entries(BROKEN)) {
    it.live(
      `detects that ${what}`,
      () =>
        Effect.gen(function* () {
          const report = yield* check({ seed: 1, histories: HISTORIES, maxShrinks: 0, breakage })
          assert.strictEqual(report._tag, "Failed")
        }),
      120_000
    )
  }
})
