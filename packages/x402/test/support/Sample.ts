import { Usdt, type PaymentProof, type PaymentTerms } from "@agentos/core"
import { x402Client } from "@x402/core/client"
import { encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Effect, Redacted } from "effect"
import { type Hex, numberToHex, pad } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { httpFacilitator, type PaymentRailX402 } from "../../src/index.ts"
import * as PaymentHeader from "../../src/header/PaymentHeader.ts"
import { hexOf } from "../../src/network/AuthorizedTransfer.ts"
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, type FakeLog, TRANSFER } from "./ChainFake.ts"

/** The seed of the properties: 1, unless TEST_SEED is another whole number or `random`. */
export const SEED = process.env["TEST_SEED"] ?? "1"

/** A key only for tests, without funds anywhere. */
export const payer = privateKeyToAccount(`0x${"51".repeat(32)}`)
export const asset = "0x779Ded0c9e1022225f8E0630b35a9b54bE713736"
export const payTo = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
export const stranger = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
export const price = Usdt.fromDecimal("0.25")

/** A network with the given chain and facilitator. */
export const network = (
  rpcUrl: string,
  facilitatorUrl: string,
  other: Partial<PaymentRailX402.RailNetwork> = {}
): PaymentRailX402.RailNetwork => ({
  network: "eip155:402402",
  rpcUrl: Redacted.make(rpcUrl),
  rpcTimeoutMillis: 2_000,
  logBlocksMax: 10,
  asset,
  decimals: 6,
  name: "USD₮0",
  version: "1",
  payTo,
  maxTimeoutSeconds: 120,
  confirmations: 0,
  facilitator: httpFacilitator({ url: facilitatorUrl }),
  ...other
})

/** Terms as the rail offers them, with binding keys that it does not know. */
export const terms = (other: Partial<PaymentTerms> = {}): PaymentTerms => ({
  scheme: "exact",
  network: "eip155:402402",
  asset,
  amount: price,
  payTo,
  maxTimeoutSeconds: 120,
  extra: {
    name: "USD₮0",
    version: "1",
    assetTransferMethod: "eip3009",
    nonceTag: "0x6167656e746f7331",
    challengeNonce: "00ff",
    issuedAt: 1_763_712_345_678,
    binding: "f".repeat(64)
  },
  ...other
})

/** Returns the stock client's header for these terms. The client reads the time from the system clock. */
export const signatureHeader = (accepted: PaymentTerms = terms(), account = payer) =>
  Effect.promise(async () => {
    const client = new x402Client().register("eip155:*", new ExactEvmScheme(account))
    client.setSpendControls(false)
    const payload = await client.createPaymentPayload({
      x402Version: 2,
      resource: { url: "https://agentos.test/api/v1/email/mailboxes" },
      accepts: [PaymentHeader.requirementsOf(accepted)]
    })
    return encodePaymentSignatureHeader(payload)
  })

export const proof = (accepted: PaymentTerms = terms(), account = payer) =>
  Effect.flatMap(signatureHeader(accepted, account), (header) => Effect.orDie(PaymentHeader.decodeProof(header)))

/** A proof whose signature is not checked. */
export const unsignedProof = (other: Partial<PaymentProof> = {}): PaymentProof => ({
  digest: "d".repeat(64),
  network: "eip155:402402",
  asset,
  payer: payer.address.toLowerCase(),
  payTo,
  value: price,
  nonce,
  validAfter: 0,
  validBefore: 2_000,
  accepted: { ...terms(), amount: price.toString() },
  payload: "{}",
  ...other
})

export const transaction: Hex = `0x${"7a".repeat(32)}`

/** The nonce of `unsignedProof`. */
export const nonce: Hex = `0x${"ab".repeat(32)}`

const topic = (address: string): Hex => pad(hexOf(address))
const payerTopic = topic(payer.address)

/** The logs of a use of the sample proof's nonce: by default, of the requested payment. */
export const useLogs = (
  block: number,
  other: {
    readonly from?: string
    readonly to?: string
    readonly value?: bigint
    readonly gap?: number
    readonly token?: string
    readonly transaction?: Hex
  } = {}
): ReadonlyArray<FakeLog> => {
  const { from = payer.address, gap = 1, to = payTo, token = asset, value = price } = other
  const log = { block, transaction: other.transaction ?? transaction }
  return [
    { ...log, logIndex: 4, address: asset, topics: [AUTHORIZATION_USED, payerTopic, nonce], data: "0x" },
    {
      ...log,
      logIndex: 4 + gap,
      address: token,
      topics: [TRANSFER, topic(from), topic(to)],
      data: numberToHex(value, { size: 32 })
    }
  ]
}

/** The log of cancelling the sample proof's authorization. */
export const cancelLogs = (block: number): ReadonlyArray<FakeLog> => [
  { block, transaction, logIndex: 0, address: asset, topics: [AUTHORIZATION_CANCELED, payerTopic, nonce], data: "0x" }
]
