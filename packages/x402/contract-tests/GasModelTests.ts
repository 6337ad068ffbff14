import { type ContractTests, propertyOptions } from "@agentos/core/contract-tests"
import { GasTransactionStore, type SignedTransaction } from "@agentos/x402/GasTransactionStore"
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Sample from "./GasTransactionSample.ts"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Commands on a wallet. References and account nonces are few, so that interesting cases are frequent. */
const Command = Schema.Union([
  Schema.TaggedStruct("Open", { reference: upTo(4), accountNonceMin: upTo(6), fails: Schema.Boolean }),
  Schema.TaggedStruct("Open", { reference: upTo(4), accountNonceMin: upTo(6), fails: Schema.Literal(false) }),
  Schema.TaggedStruct("Reprice", { accountNonce: upTo(8), isNewest: Schema.Boolean }),
  Schema.TaggedStruct("CloseBelow", { accountNonce: upTo(8) })
])

interface Transaction {
  readonly reference: string
  readonly versions: ReadonlyArray<SignedTransaction>
}

/** The simplest implementation of the port for one wallet. */
class GasModel {
  readonly open = new Map<number, Transaction>()
  #next = 0

  /** Returns the account nonce of the open transaction with the reference, or else opens one. */
  openUnder(reference: string, accountNonceMin: number, version: (accountNonce: number) => SignedTransaction | null) {
    const known = [...this.open].find(([, transaction]) => transaction.reference === reference)
    if (known !== undefined) return known[0]
    const accountNonce = Math.max(this.#next, accountNonceMin)
    const signed = version(accountNonce)
    if (signed === null) return null
    this.open.set(accountNonce, { reference, versions: [signed] })
    this.#next = accountNonce + 1
    return accountNonce
  }

  closeBelow(accountNonce: number) {
    for (const { accountNonce: each } of this.listed()) if (each < accountNonce) this.open.delete(each)
  }

  listed() {
    return [...this.open]
      .map(([accountNonce, transaction]) => ({ accountNonce, ...transaction }))
      .toSorted((a, b) => a.accountNonce - b.accountNonce)
  }
}

/** Compares any sequence of commands with the model. */
export const gasModelTests: ContractTests<GasTransactionStore> = (it, capabilities) => {
  describe("a wallet", () => {
    it.effect.prop(
      "has the same open transactions as the model after any commands",
      { commands: Schema.Array(Command).check(Schema.isMaxLength(25)) },
      ({ commands }) =>
        Effect.gen(function* () {
          const store = yield* GasTransactionStore
          const wallet = yield* Sample.gasWallet
          const model = new GasModel()
          let signings = 0
          for (const command of commands) {
            const version = `v${++signings}n`
            switch (command._tag) {
              case "Open": {
                const { accountNonceMin, fails } = command
                const reference = `reference ${command.reference}`
                const answer = yield* store
                  .open({ wallet, reference, accountNonceMin }, (accountNonce) =>
                    fails ? Effect.fail("no key") : Effect.succeed(Sample.signed(accountNonce, version))
                  )
                  .pipe(
                    Effect.map(({ accountNonce }) => accountNonce),
                    Effect.catch(() => Effect.succeed(null))
                  )
                const expected = model.openUnder(reference, accountNonceMin, (accountNonce) =>
                  fails ? null : Sample.signed(accountNonce, version)
                )
                assert.strictEqual(answer, expected)
                break
              }
              case "Reprice": {
                const { accountNonce, isNewest } = command
                const transaction = model.open.get(accountNonce)
                const newest = transaction?.versions.at(-1)?.hash
                const previous = isNewest ? newest : transaction?.versions.at(-2)?.hash
                const signed = Sample.signed(accountNonce, version)
                const answer = yield* store.reprice({ wallet, accountNonce }, previous ?? "0x", signed)
                assert.strictEqual(answer, isNewest && transaction !== undefined)
                if (transaction === undefined || !isNewest) break
                model.open.set(accountNonce, { ...transaction, versions: [...transaction.versions, signed] })
                break
              }
              case "CloseBelow":
                yield* store.closeBelow(wallet, command.accountNonce)
                model.closeBelow(command.accountNonce)
                break
            }
            const listed = (yield* store.listOpen(wallet, 1_000)).map(({ accountNonce, reference, versions }) => ({
              accountNonce,
              reference,
              versions
            }))
            assert.deepStrictEqual(listed, model.listed())
          }
        }),
      propertyOptions(capabilities)
    )
  })
}
