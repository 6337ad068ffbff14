import type { PaymentProof } from "@agentos/core"
import { Effect, Schema } from "effect"
import { createWalletClient, type Hex, http, parseAbi, parseSignature } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { PaymentRig } from "./PaymentRig.ts"

/** EIP-3009, as implemented by the token. */
const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)"
])
const transferTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const
const cancelTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

const hex = (text: string): Hex => `0x${text.slice(2)}`
const decodePayload = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ payload: Schema.Struct({ signature: Schema.String }) }))
)

/** An account with gas that is neither the facilitator nor a customer. */
const submitter = Effect.map(PaymentRig, ({ chain, client }) => ({
  asset: chain.asset,
  domain: {
    name: chain.assetName,
    version: chain.assetVersion,
    chainId: chain.chainId,
    verifyingContract: chain.asset
  },
  wallet: createWalletClient({
    account: privateKeyToAccount(chain.deployerKey),
    chain: { ...client.chain, id: chain.chainId },
    transport: http(chain.rpcUrl)
  }),
  mined: (hash: Hex) =>
    Effect.promise(async () => {
      const receipt = await client.waitForTransactionReceipt({ hash })
      if (receipt.status !== "success") throw new Error(`${hash} reverted`)
      return receipt
    })
}))

const signatureParts = (signature: Hex) => {
  const { r, s, yParity } = parseSignature(signature)
  return { r, s, v: 27 + yParity }
}

/** Submits the authorization of a proof from a third account. */
export const submit = Effect.fnUntraced(function* (proof: PaymentProof) {
  const { asset, mined, wallet } = yield* submitter
  const { r, s, v } = signatureParts(hex(decodePayload(proof.payload).payload.signature))
  const { nonce, payTo, payer, validAfter, validBefore, value } = proof
  const times = [BigInt(validAfter), BigInt(validBefore)] as const
  return yield* Effect.flatMap(
    Effect.promise(() =>
      wallet.writeContract({
        address: asset,
        abi,
        functionName: "transferWithAuthorization",
        args: [hex(payer), hex(payTo), value, ...times, hex(nonce), v, r, s]
      })
    ),
    mined
  )
})

/** Signs another transfer with the nonce of a proof as its payer and submits it from a third account. */
export const redirect = Effect.fnUntraced(function* (
  proof: PaymentProof,
  payer: PrivateKeyAccount,
  change: { readonly to?: Hex; readonly value?: bigint }
) {
  const { domain } = yield* submitter
  const message = {
    from: hex(proof.payer),
    to: change.to ?? hex(proof.payTo),
    value: change.value ?? proof.value,
    validAfter: BigInt(proof.validAfter),
    validBefore: BigInt(proof.validBefore),
    nonce: hex(proof.nonce)
  }
  const signature = yield* Effect.promise(() =>
    payer.signTypedData({ domain, types: transferTypes, primaryType: "TransferWithAuthorization", message })
  )
  const payload = JSON.stringify({ payload: { signature } })
  return yield* submit({ ...proof, payTo: message.to, value: message.value, payload })
})

/** Cancels the authorization of a proof as its payer. */
export const cancel = Effect.fnUntraced(function* (
  proof: Pick<PaymentProof, "payer" | "nonce">,
  payer: PrivateKeyAccount
) {
  const { asset, domain, mined, wallet } = yield* submitter
  const message = { authorizer: hex(proof.payer), nonce: hex(proof.nonce) }
  const signature = yield* Effect.promise(() =>
    payer.signTypedData({ domain, types: cancelTypes, primaryType: "CancelAuthorization", message })
  )
  const { r, s, v } = signatureParts(signature)
  return yield* Effect.flatMap(
    Effect.promise(() =>
      wallet.writeContract({
        address: asset,
        abi,
        functionName: "cancelAuthorization",
        args: [message.authorizer, message.nonce, v, r, s]
      })
    ),
    mined
  )
})
