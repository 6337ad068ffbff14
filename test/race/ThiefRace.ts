import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentRequired } from "@x402/core/types"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { concat, type Hex, numberToHex, slice } from "viem"
import { createMailbox } from "../faults/client/Requests.ts"
import { useOf, type Wallet } from "../faults/client/Wallet.ts"
import { readCalldata, transactionOf } from "../faults/observation/Chain.ts"
import { codeOf, type Payment } from "../faults/observation/Purchases.ts"
import type { Request } from "../support/Agent.ts"
import { AUTHORIZATION_FORMS, type SignedAuthorization } from "../support/Authorization.ts"
import type { Cluster } from "../support/Cluster.ts"
import type { Race, Round } from "./Round.ts"

/** A payment is submitted and presented within this time. */
const SUBMIT_WITHIN_MILLIS = 400

/** Reads a settled authorization from the chain. */
export const readAuthorization = async (cluster: Cluster, transaction: Hex): Promise<SignedAuthorization> => {
  const { transferMethod } = cluster.chain
  const signed = AUTHORIZATION_FORMS[transferMethod].decode(await readCalldata(cluster, transaction))
  if (signed === undefined) throw new Error(`${transaction} is no settlement by ${transferMethod}`)
  return signed
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Replaces the signature by the other valid one of the same key and message, with `s` and `v` inverted. */
export const mirrored = ({ signature, ...authorization }: SignedAuthorization): SignedAuthorization => {
  const v = Number(slice(signature, 64))
  const s = CURVE_ORDER - BigInt(slice(signature, 32, 64))
  const inverted = concat([slice(signature, 0, 32), numberToHex(s, { size: 32 }), numberToHex(55 - v, { size: 1 })])
  return { ...authorization, signature: inverted }
}

/** Another wallet's authorization as an answer to the thief's own challenge. */
const stolenPayment = (
  { chain }: Cluster,
  challenge: PaymentRequired,
  authorization: SignedAuthorization,
  thief: Wallet
): Payment => {
  const header = encodePaymentSignatureHeader({
    x402Version: 2,
    resource: challenge.resource,
    accepted: challenge.accepts[0]!,
    payload: AUTHORIZATION_FORMS[chain.transferMethod].write(authorization, chain.asset)
  })
  return { authorization, header, token: thief.token, uses: [], advice: [] }
}

/** The payment is spent or does not fit the request, or the name is taken. */
const REFUSALS = ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED", "CONFLICT"]

/** A request, and the challenge that a thief received for it. */
export interface Challenged {
  readonly request: Request
  readonly challenge: PaymentRequired
}

export const challenged = async (thief: Wallet, request: Request, server: number): Promise<Challenged> => ({
  request,
  challenge: await thief.on(server).challenge(request)
})

/** Presents an authorization with each challenge, under each key, to each server. Returns the answers that are wrong. */
export const steal = async (
  cluster: Cluster,
  thief: Wallet,
  authorization: SignedAuthorization,
  challenges: ReadonlyArray<Challenged>,
  keys: ReadonlyArray<string>,
  refusals: ReadonlyArray<string> = REFUSALS
): Promise<ReadonlyArray<string>> => {
  const answers = await Promise.all(
    challenges.flatMap(({ challenge, request }) =>
      keys.flatMap((key) => {
        const payment = stolenPayment(cluster, challenge, authorization, thief)
        return cluster.servers.map((_, server) => thief.send(payment, useOf(payment, request, key), server))
      })
    )
  )
  return answers
    .filter((answer) => !refusals.includes(codeOf(answer)) || answer.text.includes("at_v1_"))
    .map(({ status, text }) => `a thief was answered ${status} ${text}`)
}

/**
 * A victim with a signed payment for a mailbox, and a thief with challenges for the same request and for one of their
 * own. `present` offers an authorization with both signatures, under the victim's key and another.
 */
const prepareTheft = async (round: Round) => {
  const { cluster, fresh } = round.setting
  const [victim, thief] = [fresh(), fresh()]
  const request = createMailbox(round.name("victim"))
  // Before the victim pays, because a taken name is not challenged.
  const challenges = await Promise.all(
    [request, createMailbox(round.name("thief"))].map((each) => challenged(thief, each, round.server()))
  )
  const contender = await round.contender(victim, request)
  const keys = [contender.use.key, randomUUID()]
  const present = async (authorization: SignedAuthorization) => {
    const both = [authorization, mirrored(authorization)]
    for (const problem of (
      await Promise.all(both.map((each) => steal(cluster, thief, each, challenges, keys)))
    ).flat()) {
      round.report(problem)
    }
  }
  return { contender, present }
}

const theft = { freshWallets: 2, roundsPerPlay: 1, isAlone: false } as const
const oneWinner = { winners: 1, losingCodes: [] }

/** A thief presents an intercepted payment with challenges of their own. Its nonce is bound to the victim's challenge. */
export const interceptedProof: Race = {
  ...theft,
  name: "an intercepted proof that is bound",
  play: async (round) => {
    const { contender, present } = await prepareTheft(round)
    await present(contender.payment.authorization)
    await Promise.all([round.run([contender], 2, oneWinner), present(contender.payment.authorization)])
  }
}

/**
 * A thief has an intercepted payment settled by a facilitator while its owner presents it. It buys the goods that the
 * owner asked for, or is refunded.
 */
export const submittedProof: Race = {
  ...theft,
  name: "a proof that a thief submits",
  play: async (round) => {
    const { cluster, fresh, random } = round.setting
    const [victim, thief] = [fresh(), fresh()]
    const request = createMailbox(round.name("victim"))
    const stolen = await challenged(thief, createMailbox(round.name("thief")), round.server())
    const contender = await round.contender(victim, request)
    const payload = decodePaymentSignatureHeader(contender.payment.header)
    const submitting = async () => {
      await sleep(random.integer(SUBMIT_WITHIN_MILLIS))
      await fetch(`${cluster.facilitatorUrl}/settle`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted })
      })
      const keys = [contender.use.key, randomUUID()]
      return steal(cluster, thief, contender.payment.authorization, [stolen], keys)
    }
    const presenting = async () => {
      await sleep(random.integer(SUBMIT_WITHIN_MILLIS))
      return round.run([contender], 2)
    }
    const [[outcome], problems] = await Promise.all([presenting(), submitting()])
    for (const problem of problems) round.report(problem)
    const { last, won } = outcome!
    if (!won && !last.every(({ paymentState }) => paymentState === "refunded")) {
      round.report(`the owner was answered ${last.map(({ text }) => text).join(" | ")}`)
    }
    const again = await round.finish(contender, round.server())
    if (won !== (again.status === 201)) round.report(`a retry was answered ${again.text}`)
  }
}

/** A thief reads the payment from the chain while the victim's request is under way, and asks for the goods. */
export const rebuiltProof: Race = {
  ...theft,
  name: "a proof rebuilt from the chain",
  play: async (round) => {
    const { cluster } = round.setting
    const { contender, present } = await prepareTheft(round)
    const stealing = async () => {
      const { nonce } = contender.payment.authorization
      await present(await readAuthorization(cluster, await transactionOf(cluster, nonce, 10n)))
    }
    await Promise.all([round.run([contender], 2, oneWinner), stealing()])
    // The invariants of payments compare these answers with the earlier ones, byte for byte.
    await Promise.all(cluster.servers.map((_, server) => round.finish(contender, server)))
  }
}
