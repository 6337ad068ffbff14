import { CarrierLog } from "../support/CarrierLog.ts"
import type { Cluster } from "../support/Cluster.ts"
import {
  addition,
  call,
  callLong,
  change,
  emailGood,
  extension,
  type Good,
  mailbox,
  mailboxBy,
  number,
  phoneGood
} from "./Goods.ts"
import { createMailbox } from "../faults/client/Requests.ts"
import { type Contender, isRefunded, type Outcome, type Race, type Round, SETUP } from "./Round.ts"

const REPLAYS = 8
/** Of each of several contenders. */
const COPIES = 4
const plain = { roundsPerPlay: 1, freshWallets: 1, isAlone: false }

/** The same bytes, eight times at once. */
const sameReplay = (prefix: string, goodOf: (round: Round) => Promise<Good>): Race => ({
  ...plain,
  name: `${prefix}the same replay, 8 at a time`,
  play: async (round) => {
    const { check, request, wallet } = await goodOf(round)
    await check(await round.run([await round.contender(wallet, request)], REPLAYS, { winners: 1, losingCodes: [] }))
  }
})

/** One payment under two keys. */
const oneProofTwoKeys = (prefix: string, goodOf: (round: Round) => Promise<Good>): Race => ({
  ...plain,
  name: `${prefix}one proof, two keys`,
  play: async (round) => {
    const { check, request, wallet } = await goodOf(round)
    const first = await round.contender(wallet, request)
    const contenders = [first, await round.contender(wallet, request, first.payment)]
    await check(await round.run(contenders, COPIES, { winners: 1, losingCodes: ["IDEMPOTENCY_CONFLICT"] }))
  }
})

/** Two payments for the same request under one key. */
const oneKeyTwoProofs = (prefix: string, goodOf: (round: Round) => Promise<Good>): Race => ({
  ...plain,
  name: `${prefix}one key, two proofs`,
  play: async (round) => {
    const { check, request, wallet } = await goodOf(round)
    const first = await round.contender(wallet, request)
    const contenders = [first, await round.contender(wallet, request, undefined, first.use.key)]
    await check(await round.run(contenders, COPIES, { winners: 1, losingCodes: ["IDEMPOTENCY_CONFLICT"] }))
  }
})

/** One payment at the endpoint that it was signed for, and at another. */
const oneProofTwoEndpoints = (prefix: string, pairOf: (round: Round) => Promise<ReadonlyArray<Good>>): Race => ({
  ...plain,
  name: `${prefix}one proof, two endpoints`,
  play: async (round) => {
    const [own, other] = round.random.shuffle(await pairOf(round)) as readonly [Good, Good]
    const rightful = await round.contender(own.wallet, own.request)
    const key = round.random.pick([rightful.use.key, undefined])
    const thief = await round.contender(own.wallet, other.request, rightful.payment, key)
    const losingCodes = ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED"]
    const outcomes = await round.run([rightful, thief], COPIES, { winners: 1, losingCodes })
    if (!outcomes[0]!.won) round.report("the endpoint that the payment was signed for lost")
    await own.check(outcomes.slice(0, 1))
    if (other.coversOthers !== true) await other.check(outcomes.slice(1))
  }
})

const newMailbox = async (round: Round): Promise<string> => {
  const [wallet] = round.setting.lane
  return mailboxBy(await round.provide(wallet, createMailbox(round.name("mailbox")))).mailbox.mailboxId
}

const emailPair = async (round: Round): Promise<ReadonlyArray<Good>> => {
  const [wallet] = round.setting.lane
  const mailboxId = await newMailbox(round)
  return [change(round, wallet, mailboxId, "update"), change(round, wallet, mailboxId, "delete")]
}

const phonePair = async (round: Round): Promise<ReadonlyArray<Good>> => {
  const [wallet] = round.setting.lane
  const pairs = [
    async () => {
      const stranger = round.setting.fresh()
      return [number(round, stranger, "US"), number(round, stranger, "CA")]
    },
    async () => [call(round, wallet, 60), call(round, wallet, 300)],
    async () => [await addition(round, wallet, "renewal"), await addition(round, wallet, "minutes")],
    async () => [call(round, wallet, 60), await extension(round, wallet)]
  ]
  return pairs[round.setting.number % pairs.length]!()
}

/** Two new wallets want the same name. */
const twoWalletsOneName: Race = {
  ...plain,
  name: "two wallets, one local part",
  freshWallets: 2,
  play: async (round) => {
    const localPart = round.name("name")
    const goods = [round.setting.fresh(), round.setting.fresh()].map((wallet) => mailbox(round, wallet, localPart))
    const contenders = await Promise.all(goods.map(({ request, wallet }) => round.contender(wallet, request)))
    const outcomes = await round.run(contenders, COPIES, { winners: 1, losingCodes: ["CONFLICT"] })
    for (const [index, outcome] of outcomes.entries()) await goods[index]!.check([outcome])
  }
}

/** Two payments, each to change or delete one mailbox. One deletion takes effect, or else both changes. */
const twoChangesOneMailbox: Race = {
  ...plain,
  name: "one mailbox, two changes",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const mailboxId = await newMailbox(round)
    const kinds = round.random.pick([
      ["update", "delete"],
      ["delete", "delete"],
      ["update", "update"]
    ] as const)
    const goods = kinds.map((kind) => change(round, wallet, mailboxId, kind))
    const contenders = await Promise.all(goods.map(({ request }) => round.contender(wallet, request)))
    const outcomes = await round.run(contenders, COPIES)
    const deletions = outcomes.filter((_, index) => kinds[index] === "delete")
    const winners = deletions.filter(({ won }) => won).length
    if (deletions.length > 0 && winners !== 1) round.report(`${winners} of ${deletions.length} deletions took effect`)
    if (deletions.length === 0 && !outcomes.every(({ won }) => won)) round.report("a change did not take effect")
    for (const outcome of outcomes) expectLoss(round, outcome, "RESOURCE_NOT_FOUND")
    const left = (await wallet.mailboxes(round.server())).find((one) => one.mailboxId === mailboxId)
    const names = goods.map(({ request }) => (request.body as { readonly displayName?: string }).displayName)
    const fits = deletions.length > 0 ? left === undefined : names.includes(left?.displayName ?? "")
    if (!fits) round.report(`after ${kinds.join(" and ")} the mailbox is ${JSON.stringify(left)}`)
  }
}

/** A loser is refunded after the charge, or refused before it with this code. */
export const expectLoss = (round: Round, outcome: Outcome, ...codes: ReadonlyArray<string>): void => {
  const expected = isRefunded(outcome) ? ["PROVIDER_REJECTED"] : codes
  const other = outcome.last.find(({ code }) => !expected.includes(code ?? "OK"))
  if (!outcome.won && other !== undefined) round.report(`a loser was answered ${other.status} ${other.text}`)
}

/** Several payments for more of the same. Each is delivered. */
const runAll = async (round: Round, good: Good, count: number): Promise<void> => {
  const contenders: Array<Contender> = []
  for (let more = 0; more < count; more++) contenders.push(await round.contender(good.wallet, good.request))
  await good.check(await round.run(contenders, 2, { winners: count }))
}

/** Several payments for one more minute of the same call. The carrier must end it after the sum. */
export const manyExtensions: Race = {
  ...plain,
  name: "phone: one call, several extensions",
  play: async (round) => {
    const [wallet] = round.setting.lane
    await runAll(round, await extension(round, wallet, await callLong(round, wallet, 60)), 2 + round.random.integer(3))
  }
}

const manyAdditions: Race = {
  ...plain,
  name: "phone: one number, two renewals or more minutes",
  play: async (round) => {
    const [wallet] = round.setting.lane
    await runAll(round, await addition(round, wallet, round.setting.number % 2 === 0 ? "renewal" : "minutes"), 2)
  }
}

/** Numbers that are left in an area. */
const LEFT_MAX = 2
/** Areas, in each of which one round at a time is played: refunds take a while. */
const AREAS = 5
const LAST_NUMBER_COPIES = 3

interface Area {
  readonly areaCode: string
  readonly left: number
}

/** The free areas of each cluster. */
const freeAreas = new WeakMap<Cluster, Promise<Array<Area>>>()

const areasOf = (cluster: Cluster): Promise<Array<Area>> => {
  const areas =
    freeAreas.get(cluster) ??
    new CarrierLog(cluster.phones.carrier.url)
      .areaCodes()
      .then(({ US }) => US.slice(-AREAS).map((areaCode, index) => ({ areaCode, left: 1 + (index % LEFT_MAX) })))
  freeAreas.set(cluster, areas)
  return areas
}

/** Buys all but a few numbers of an area directly at the carrier. */
const sellOut = async (round: Round, { areaCode, left }: Area): Promise<void> => {
  const { cluster, record } = round.setting
  const { account, carrier } = cluster.phones
  const url = `${carrier.url}/2010-04-01/Accounts/${account.accountSid}`
  const authorization = `Basic ${Buffer.from(`${account.accountSid}:${account.authToken}`).toString("base64")}`
  const search = await fetch(`${url}/AvailablePhoneNumbers/US/Local.json?AreaCode=${areaCode}`, {
    headers: { authorization }
  })
  const offered = (await search.json()) as {
    readonly available_phone_numbers: ReadonlyArray<{ readonly phone_number: string }>
  }
  for (const { phone_number: number } of offered.available_phone_numbers.slice(left)) {
    const response = await fetch(`${url}/IncomingPhoneNumbers.json`, {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams({ PhoneNumber: number, FriendlyName: "another customer" })
    })
    if (response.status !== 201) throw new Error(`the carrier did not sell ${number}: ${await response.text()}`)
    record.owned.push({ subject: { group: SETUP, label: "another customer" }, number, isKept: true })
  }
}

/** One wallet more than there are numbers. Each number has one owner, and the wallet without one has its money. */
export const lastNumber: Race = {
  name: "phone: several wallets, the last numbers",
  freshWallets: LEFT_MAX + 1,
  roundsPerPlay: 1,
  isAlone: false,
  lanes: AREAS,
  play: async (round) => {
    const areas = await areasOf(round.setting.cluster)
    const area = areas.shift()
    if (area === undefined) throw new Error("more rounds are played at a time than there are areas")
    try {
      await sellOut(round, area)
      const wallets = Array.from({ length: area.left + 1 }, round.setting.fresh)
      const goods = wallets.map((wallet) => number(round, wallet, "US", area.areaCode))
      const contenders = await Promise.all(goods.map(({ request, wallet }) => round.contender(wallet, request)))
      const outcomes = await round.run(contenders, LAST_NUMBER_COPIES, { winners: area.left })
      for (const outcome of outcomes) expectLoss(round, outcome, "CONFLICT")
      for (const [index, outcome] of outcomes.entries()) await goods[index]!.check([outcome])
    } finally {
      areas.push(area)
    }
  }
}

export const keysOfEmail = oneKeyTwoProofs("", emailGood)
export const proofsOfEmail = oneProofTwoKeys("", emailGood)

export const requestRaces: ReadonlyArray<Race> = [
  sameReplay("", emailGood),
  proofsOfEmail,
  keysOfEmail,
  oneProofTwoEndpoints("", emailPair),
  twoWalletsOneName,
  twoChangesOneMailbox,
  sameReplay("phone: ", phoneGood),
  oneProofTwoKeys("phone: ", phoneGood),
  oneKeyTwoProofs("phone: ", phoneGood),
  oneProofTwoEndpoints("phone: ", phonePair),
  lastNumber,
  manyExtensions,
  manyAdditions
]
