import { type OperationStore, type PaymentRail, ProofInvalid, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CONFIRMATIONS } from "../../support/SimulatedChain.ts"
import { check } from "./Check.ts"
import type { Breakage } from "./Deployment.ts"

type Rail = PaymentRail["Service"]
type Operations = OperationStore["Service"]

/** What the model must notice: each is a mistake that a core, or one of its ports, could make. */
const BROKEN: Readonly<Record<string, Breakage>> = {
  "a used nonce is taken for a payment": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (...asked) =>
        Effect.map(rail.findSettlement(...asked), (found) =>
          found._tag === "UsedOtherwise" ? { _tag: "Paid", transaction: "0x0", block: 0n } : found
        )
    })
  },
  "what the facilitator accepted is taken for a payment": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      findSettlement: (proof, terms, afterBlock, transaction) =>
        transaction === undefined
          ? rail.findSettlement(proof, terms, afterBlock)
          : Effect.succeed({ _tag: "Paid", transaction, block: 0n })
    })
  },
  "an unknown settlement is taken for a refusal": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      settle: (...asked) =>
        Effect.map(rail.settle(...asked), (answer) =>
          answer._tag === "Unknown" ? { _tag: "Refused", message: answer.message } : answer
        )
    })
  },
  "an authorization that was used before is taken for unused": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      readNonce: (proof) => Effect.map(rail.readNonce(proof), ({ block }) => ({ used: false, block }))
    })
  },
  "a nonce is read in a block that may be taken back": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      readNonce: (proof) =>
        Effect.map(rail.readNonce(proof), ({ block, used }) => ({ used, block: block + BigInt(CONFIRMATIONS) }))
    })
  },
  "an authorization is shown before it is claimed": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      verify: (proof, terms) => Effect.andThen(rail.verify(proof, terms), rail.simulate(proof, terms))
    })
  },
  "a simulation that can't be asked for is taken for a failure": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      simulate: (...asked) =>
        Effect.catchTag(rail.simulate(...asked), "ProviderError", ({ message }) => new ProofInvalid({ message }))
    })
  },
  "what others submitted counts as older than its challenge": {
    rail: (rail: Rail): Rail => ({ ...rail, blockBefore: () => Effect.succeed(10_000_000_000n) })
  },
  "an authorization is given up while it can be used": {
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
  "every attempt pays back under a nonce of its own": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      refund: (refund) =>
        Effect.flatMap(Timestamp.now, (now) => rail.refund({ ...refund, nonce: `${refund.nonce}${now}` }))
    })
  },
  "a refund is believed before the chain shows it": {
    rail: (rail: Rail): Rail => ({
      ...rail,
      refund: (refund) => Effect.as(rail.refund(refund), { _tag: "Paid", transaction: "0x0" })
    })
  },
  "a mail that may be lost is taken for sent": {
    provider: (provider) => ({
      ...provider,
      send: (mail) =>
        Effect.catch(provider.send(mail), () => Effect.succeed({ accepted: mail.to, rejected: [], response: "250" }))
    })
  },
  "a local part stays with an operation that was never paid": {
    mailboxes: (store) => ({ ...store, releaseReservation: () => Effect.void })
  },
  "the ledger is not written": {
    operations: (store: Operations): Operations => ({ ...store, post: () => Effect.void })
  },
  "a lease is not renewed while a call lasts": {
    operations: (store: Operations): Operations => ({
      ...store,
      hold: (operationId, fence, hold) =>
        hold.by === "worker" ? Effect.succeed(true) : store.hold(operationId, fence, hold)
    })
  },
  "what is taken over is taken under the old fence": {
    operations: (store: Operations): Operations => ({
      ...store,
      takeDue: (...asked) =>
        Effect.map(store.takeDue(...asked), (taken) => taken.map((each) => ({ ...each, fence: each.fence - 1 })))
    })
  },
  "nobody takes up what a dead server left": {
    operations: (store: Operations): Operations => ({ ...store, takeDue: () => Effect.succeed([]) })
  },
  "the end of an operation is not told": {
    events: (store) => ({ ...store, append: () => Effect.succeed([]) })
  }
}

describe("the model", () => {
  for (const [what, breakage] of Object.entries(BROKEN)) {
    it.live(
      `notices that ${what}`,
      () =>
        Effect.gen(function* () {
          const report = yield* check({ seed: 1, histories: 400, maxShrinks: 0, breakage })
          assert.strictEqual(report._tag, "Failed")
        }),
      120_000
    )
  }
})
