import type { PaymentProof } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { x402Client } from "@x402/core/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Effect, Schema } from "effect"
import * as PaymentHeader from "../../src/header/PaymentHeader.ts"
import { PERMIT2_PROXY } from "../../src/network/Permit2Address.ts"
import * as Sample from "../support/Sample.ts"

const accepted = Sample.terms({ extra: { name: "Tether USD", assetTransferMethod: "permit2" } })

interface Payment {
  readonly payload: {
    readonly permit2Authorization: {
      readonly permitted: object
      readonly witness: object
      readonly deadline: string
      readonly nonce: string
    }
  }
}

/** A payment of the stock client. */
const payment = Effect.promise(async () => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(Sample.payer))
  client.setSpendControls(false)
  return (await client.createPaymentPayload({
    x402Version: 2,
    resource: { url: "https://agentos.test/api/v1/email/mailboxes" },
    accepts: [PaymentHeader.requirementsOf(accepted)]
  })) as unknown as Payment
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64")

/** Returns the payment with changes of its authorization. */
const changed = ({ payload, ...rest }: Payment, change: object) => ({
  ...rest,
  payload: { ...payload, permit2Authorization: { ...payload.permit2Authorization, ...change } }
})

describe("decodeProof of a Permit2 payment", () => {
  it.effect("reads all that the stock client signed", () =>
    Effect.gen(function* () {
      const made = yield* payment
      const proof = yield* PaymentHeader.decodeProof(encode(made))
      const { deadline, nonce } = made.payload.permit2Authorization
      const expected: Partial<PaymentProof> = {
        payer: Sample.payer.address.toLowerCase(),
        payTo: Sample.payTo,
        value: Sample.price,
        validAfter: 0,
        validBefore: Number(deadline)
      }
      assert.deepInclude(proof, expected)
      assert.strictEqual(BigInt(proof.nonce), BigInt(nonce))
      assert.match(proof.nonce, /^0x[0-9a-f]{64}$/)
    })
  )

  it.effect("refuses another spender, token or field, and an EIP-3009 payment for these terms", () =>
    Effect.gen(function* () {
      const made = yield* payment
      const { permitted, witness } = made.payload.permit2Authorization
      const { signature: _, ...unsigned } = made.payload as { signature?: string } & Payment["payload"]
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        [
          changed(made, { spender: Sample.stranger }),
          `permit2Authorization.spender must be x402's proxy, ${PERMIT2_PROXY}`
        ],
        [
          changed(made, { permitted: { ...permitted, token: Sample.stranger } }),
          "permit2Authorization.permitted.token must be the asset"
        ],
        [changed(made, { permitted: { ...permitted, more: 1 } }), "permit2Authorization.permitted.more"],
        [changed(made, { witness: { ...witness, extra: "0x" } }), "permit2Authorization.witness.extra"],
        [changed(made, { nonce: `${2n ** 256n}` }), "permit2Authorization.nonce"],
        [changed(made, { nonce: "0x01" }), "permit2Authorization.nonce"],
        [{ ...made, payload: { ...made.payload, authorization: {} } }, "contains an EIP-3009 payment"],
        [{ ...made, payload: unsigned }, "payload.signature"],
        [
          {
            ...made,
            accepted: { ...PaymentHeader.requirementsOf(accepted), extra: { assetTransferMethod: "erc7710" } }
          },
          "a transfer method that this server does not implement"
        ],
        [
          { ...made, accepted: { ...PaymentHeader.requirementsOf(accepted), extra: {} } },
          "contains a Permit2 payment. Authorize by EIP-3009"
        ]
      ]
      for (const [value, message] of cases) {
        const error = yield* Effect.flip(PaymentHeader.decodeProof(encode(value)))
        assert.include(error.message, message)
      }
    })
  )

  it.effect.prop(
    "keeps every nonce of 256 bits",
    { nonce: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 256n - 1n })) },
    ({ nonce }) =>
      Effect.gen(function* () {
        const proof = yield* PaymentHeader.decodeProof(encode(changed(yield* payment, { nonce: `${nonce}` })))
        assert.strictEqual(BigInt(proof.nonce), nonce)
        assert.lengthOf(proof.nonce, 66)
      }),
    { arbitrary: { seed: Sample.SEED } }
  )
})
