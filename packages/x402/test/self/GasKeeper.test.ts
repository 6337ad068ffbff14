import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createPublicClient, http } from "viem"
import type { GasAccount } from "../../src/self/GasAccount.ts"
import type { GasChain } from "../../src/self/GasChain.ts"
import { run } from "../../src/self/GasKeeper.ts"
import type { GasSpender } from "../../src/self/GasSpender.ts"
import { type GasTransaction, GasTransactionStore } from "../../src/self/GasTransactionStore.ts"

const account: GasAccount = {
  address: `0x${"a".repeat(40)}`,
  wallet: { network: "eip155:402402", address: `0x${"a".repeat(40)}` },
  ceiling: 1n,
  saleCeiling: 1n,
  repriceAfterMillis: 15_000,
  sign: () => Effect.die("nothing is signed"),
  signAgain: () => Effect.die("nothing is signed")
}
const unasked = Effect.die("the chain is not asked while nothing is open")
const chain: GasChain = {
  client: createPublicClient({ transport: http("http://127.0.0.1:9", { retryCount: 0 }) }),
  nextNonce: () => unasked,
  accountNonces: () => unasked,
  market: unasked,
  balance: () => unasked,
  receipt: () => unasked,
  broadcast: () => unasked
}
const spender: GasSpender = {
  solvency: Effect.void,
  submit: () => unasked,
  find: () => unasked,
  receiptOf: () => unasked
}

/** A wallet without open transactions, whose store fails in the given ways at first. */
const storeThatFails = (failures: ReadonlyArray<Effect.Effect<never>>) => {
  const looks = { made: 0 }
  const listOpen = (): Effect.Effect<ReadonlyArray<GasTransaction>> =>
    Effect.suspend(() => failures[looks.made++] ?? Effect.succeed([]))
  const store = GasTransactionStore.of({
    open: () => Effect.die("nothing is opened"),
    reprice: () => Effect.die("nothing is priced again"),
    listOpen,
    closeBelow: () => Effect.die("nothing is closed")
  })
  return { looks, store }
}

describe("run", () => {
  it.effect("keeps running, even if the store fails because one of its own fibers was interrupted", () =>
    Effect.gen(function* () {
      const { looks, store } = storeThatFails([Effect.interrupt, Effect.die("no connection"), Effect.interrupt])
      yield* Effect.forkChild(Effect.provideService(run(account, chain, spender), GasTransactionStore, store))
      yield* TestClock.adjust("20 seconds")
      assert.isAbove(looks.made, 5)
    })
  )
})
