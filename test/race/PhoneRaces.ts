import { ADD_MINUTES, RENEW } from "../support/PhoneCustomer.ts"
import type { Request } from "../support/Agent.ts"
import type { Race } from "./Race.ts"
import { addition, anyGood, call, callLong, extension, type Good, number } from "./PhoneGoods.ts"
import type { Contender, Outcome, Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

const REPLAYS = 8
/** Of each contender, where several want the same. */
const COPIES = 4

const plain = { roundsPerPlay: 1, freshWallets: 0, alone: false }

/** The same bytes, eight times at once, to buy anything that telephones offer. */
export const samePhoneReplay: Race = {
  ...plain,
  name: "phone: the same replay, 8 at a time",
  freshWallets: 1,
  play: async (round) => {
    const good = await anyGood(round)
    const outcomes = await round.run([await round.contender(good.wallet, good.request)], REPLAYS)
    round.expectOneWinner(outcomes, [])
    await good.expect(outcomes)
  }
}

export const phoneProofTwoKeys: Race = {
  ...plain,
  name: "phone: one proof, two keys",
  freshWallets: 1,
  play: async (round) => {
    const { expect, request, wallet } = await anyGood(round)
    const first = await round.contender(wallet, request)
    const outcomes = await round.run([first, await round.contender(wallet, request, first.stake)], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT"])
    await expect(outcomes)
  }
}

export const phoneKeyTwoProofs: Race = {
  ...plain,
  name: "phone: one key, two proofs",
  freshWallets: 1,
  play: async (round) => {
    const { expect, request, wallet } = await anyGood(round)
    const first = await round.contender(wallet, request)
    const outcomes = await round.run([first, await round.contender(wallet, request, undefined, first.key)], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT"])
    await expect(outcomes)
  }
}

/** What is sold at the one endpoint and at the other. */
const pairOf = async (round: Round): Promise<readonly [Good, Good]> => {
  const [wallet] = round.setting.lane
  const pairs = [
    async () => {
      const stranger = round.setting.fresh()
      return [await number(round, stranger, "US"), await number(round, stranger, "CA")] as const
    },
    async () => [await call(round, wallet, 60), await call(round, wallet, 300)] as const,
    async () => [await addition(round, wallet, "renewal"), await addition(round, wallet, "minutes")] as const,
    async () => [await call(round, wallet, 60), await extension(round, wallet)] as const
  ]
  return pairs[round.setting.number % pairs.length]!()
}

/** One authorization at the endpoint that it was signed for, and at another. */
export const phoneProofTwoEndpoints: Race = {
  ...plain,
  name: "phone: one proof, two endpoints",
  freshWallets: 1,
  play: async (round) => {
    const pair = await pairOf(round)
    const [own, other] = round.random.shuffle(pair) as typeof pair
    const rightful = await round.contender(own.wallet, own.request)
    const key = round.random.pick([rightful.key, undefined])
    const thief = await round.contender(own.wallet, other.request, rightful.stake, key)
    const outcomes = await round.run([rightful, thief], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED"])
    if (!outcomes[0]!.won) round.violation("the endpoint that was paid lost")
    await own.expect(outcomes.slice(0, 1))
    // What adds to a number looks at all that was added to it.
    const isAddition = [RENEW, ADD_MINUTES].includes(other.request.path)
    if (!isAddition) await other.expect(outcomes.slice(1))
  }
}

/** Everybody who pays for more of the same thing gets it. */
const runAll = async (
  round: Round,
  wallet: Wallet,
  requests: ReadonlyArray<Request>
): Promise<ReadonlyArray<Outcome>> => {
  const contenders: Array<Contender> = []
  for (const request of requests) contenders.push(await round.contender(wallet, request))
  const outcomes = await round.run(contenders, 2)
  const lost = outcomes.filter(({ won }) => !won)
  for (const { last } of lost) round.violation(`one of ${requests.length} was told ${last[0]!.status} ${last[0]!.text}`)
  return outcomes
}

/** Several pay for a minute more of one call at once: the carrier ends it after the sum of them. */
export const manyExtensions: Race = {
  ...plain,
  name: "phone: one call, several extensions",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const good = await extension(round, wallet, await callLong(round, wallet, 60))
    const count = 2 + round.random.integer(3)
    await good.expect(
      await runAll(
        round,
        wallet,
        Array.from({ length: count }, () => good.request)
      )
    )
  }
}

/** Several pay for the same number at once, of one kind: it has the sum of them. */
export const manyAdditions: Race = {
  ...plain,
  name: "phone: one number, two renewals or more minutes",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const good = await addition(round, wallet, round.setting.number % 2 === 0 ? "renewal" : "minutes")
    await good.expect(await runAll(round, wallet, [good.request, good.request]))
  }
}
