import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentPayload, PaymentRequired } from "@x402/core/types"
import { sandboxUsdtAbi } from "@agentos/sandbox"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { concat, decodeFunctionData, type Hex, numberToHex, slice } from "viem"
import type { Reply, Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { readCalldata, transactionOf } from "./ChainLog.ts"
import { createMailbox } from "./MailboxRequests.ts"
import type { Race } from "./Race.ts"
import { codeOf, type Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

/** Within how long of each other a payment is submitted and presented. */
const SUBMIT_WITHIN_MILLIS = 400

/** What the chain tells everybody of a payment. */
export interface PublicPayment {
  readonly authorization: Readonly<Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>>
  readonly signature: Hex
}

/** Reads a settled payment off the chain. */
export const readPayment = async (cluster: Cluster, transaction: Hex): Promise<PublicPayment> => {
  const call = decodeFunctionData({ abi: sandboxUsdtAbi, data: await readCalldata(cluster, transaction) })
  if (call.functionName !== "transferWithAuthorization") throw new Error(`paid by ${call.functionName}`)
  const [from, to, value, validAfter, validBefore, nonce, ...rest] = call.args
  return {
    authorization: {
      from,
      to,
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce
    },
    signature: rest.length === 1 ? rest[0] : concat([rest[1], rest[2], numberToHex(rest[0], { size: 1 })])
  }
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** With the other signature that the same key could have made for the same message: `s` and `v` turned round. */
export const mirrored = ({ authorization, signature }: PublicPayment): PublicPayment => {
  const v = Number(slice(signature, 64))
  const s = CURVE_ORDER - BigInt(slice(signature, 32, 64))
  const turned = concat([slice(signature, 0, 32), numberToHex(s, { size: 32 }), numberToHex(55 - v, { size: 1 })])
  return { authorization, signature: turned }
}

/** The header by which somebody else's payment is offered as an answer to a challenge of one's own. */
const stolenHeader = (challenge: PaymentRequired, { authorization, signature }: PublicPayment): string =>
  encodePaymentSignatureHeader({
    x402Version: 2,
    resource: challenge.resource,
    accepted: challenge.accepts[0]!,
    payload: { signature, authorization }
  })

/** What a thief is told: that the payment is spent, or none, or that the name is the victim's. */
const REFUSALS = ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED", "CONFLICT"]

export interface Attempt {
  readonly request: Request
  readonly header: string
  readonly key: string
}

/** Sends every header under every key to every server, and says what is wrong with an answer. */
export const steal = async (
  cluster: Cluster,
  thief: Wallet,
  attempts: ReadonlyArray<Attempt>,
  refusals: ReadonlyArray<string> = REFUSALS
): Promise<ReadonlyArray<string>> => {
  const replies = await Promise.all(
    attempts.flatMap(({ header, key, request }) =>
      cluster.servers.map((_, server): Promise<Reply> => thief.on(server).replay(request, header, key))
    )
  )
  return replies
    .filter((reply) => !refusals.includes(codeOf(reply)) || reply.text.includes("at_v1_"))
    .map((reply) => `a thief was told ${reply.status} ${reply.text}`)
}

/** A request, and the challenge that a thief got for it. */
export interface Challenged {
  readonly request: Request
  readonly challenge: PaymentRequired
}

export const challenged = async (thief: Wallet, request: Request, server: number): Promise<Challenged> => ({
  request,
  challenge: await thief.on(server).challenge(request)
})

/** What a thief can try who may know, or have guessed, the victim's key. */
export const attemptsWith = (
  payment: PublicPayment,
  challenges: ReadonlyArray<Challenged>,
  keys: ReadonlyArray<string>
): ReadonlyArray<Attempt> =>
  challenges.flatMap(({ challenge, request }) =>
    keys.map((key) => ({ request, header: stolenHeader(challenge, payment), key }))
  )

/** What a payment says that has not reached the chain yet, as whoever stands between client and server sees it. */
const intercepted = (header: string): { readonly payload: PaymentPayload; readonly payment: PublicPayment } => {
  const payload = decodePaymentSignatureHeader(header)
  const { authorization, signature } = payload.payload as unknown as PublicPayment
  return { payload, payment: { authorization, signature } }
}

/**
 * A victim with a signed payment for a mailbox, and a thief with challenges for the same request and for one of their
 * own. `present` has the thief offer a payment in both spellings of its signature, under the victim's key and another.
 */
const openTheft = async (round: Round) => {
  const { cluster, fresh } = round.setting
  const [victim, thief] = [fresh(), fresh()]
  const request = createMailbox(round.name("victim"))
  // Before the victim pays: nobody is challenged for a name that is taken.
  const challenges = await Promise.all(
    [request, createMailbox(round.name("thief"))].map((each) => challenged(thief, each, round.server()))
  )
  const contender = await round.contender(victim, request)
  const keys = [contender.key, randomUUID()]
  const present = (payment: PublicPayment) =>
    steal(
      cluster,
      thief,
      [payment, mirrored(payment)].flatMap((each) => attemptsWith(each, challenges, keys))
    )
  return { contender, present }
}

/**
 * A thief who has intercepted a payment presents it with challenges of their own before the victim does and while. Its
 * nonce is bound to the victim's challenge, so it buys for the victim alone.
 */
export const interceptedProof: Race = {
  name: "an intercepted proof that is bound",
  freshWallets: 2,
  roundsPerPlay: 1,
  alone: false,
  play: async (round) => {
    const { contender, present } = await openTheft(round)
    const { payment } = intercepted(contender.stake.offer.header)
    const early = await present(payment)
    const [outcomes, wrongs] = await Promise.all([round.run([contender], 2), present(payment)])
    round.expectOneWinner(outcomes, [])
    for (const wrong of [...early, ...wrongs]) round.violation(wrong)
  }
}

/**
 * A thief who has intercepted a payment has it settled, by a facilitator that does so for anybody, while its owner
 * presents it. It buys what the owner asked for, or goes back: it is never lost, and never the thief's.
 */
export const submittedProof: Race = {
  name: "a proof that a thief submits",
  freshWallets: 2,
  roundsPerPlay: 1,
  alone: false,
  play: async (round) => {
    const { cluster, fresh, random } = round.setting
    const [victim, thief] = [fresh(), fresh()]
    const request = createMailbox(round.name("victim"))
    const stolen = await challenged(thief, createMailbox(round.name("thief")), round.server())
    const contender = await round.contender(victim, request)
    const { payload, payment } = intercepted(contender.stake.offer.header)
    const submitting = async () => {
      await sleep(random.integer(SUBMIT_WITHIN_MILLIS))
      await fetch(`${cluster.facilitatorUrl}/settle`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted })
      })
      return steal(cluster, thief, attemptsWith(payment, [stolen], [contender.key, randomUUID()]))
    }
    const presenting = async () => {
      await sleep(random.integer(SUBMIT_WITHIN_MILLIS))
      return round.run([contender], 2)
    }
    const [outcomes, wrongs] = await Promise.all([presenting(), submitting()])
    for (const wrong of wrongs) round.violation(wrong)
    for (const { contender: owner, last, won } of outcomes) {
      const isReturned = last.every((reply) => reply.body.error?.paymentState === "refunded")
      if (!won && !isReturned) round.violation(`the owner was told ${last.map(({ text }) => text).join(" | ")}`)
      const again = await round.finish(owner, round.server())
      if (won !== (again.status === 201)) round.violation(`a retry was answered otherwise: ${again.text}`)
    }
  }
}

/** While the victim's request is still under way, a thief who saw the payment on the chain asks for what was bought. */
export const rebuiltProof: Race = {
  name: "a proof rebuilt from the chain",
  freshWallets: 2,
  roundsPerPlay: 1,
  alone: false,
  play: async (round) => {
    const { cluster } = round.setting
    const { contender, present } = await openTheft(round)
    const stealing = async () => {
      const { nonce } = contender.stake.offer
      return present(await readPayment(cluster, await transactionOf(cluster, nonce, 10n)))
    }
    const [outcomes, wrongs] = await Promise.all([round.run([contender], 2), stealing()])
    round.expectOneWinner(outcomes, [])
    for (const wrong of wrongs) round.violation(wrong)
    const again = await Promise.all(cluster.servers.map((_, server) => round.finish(contender, server)))
    round.expectSame(outcomes, again)
  }
}
