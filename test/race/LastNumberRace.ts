import { CarrierLog } from "../support/CarrierLog.ts"
import type { Cluster } from "../support/Cluster.ts"
import { SET_UP } from "./Book.ts"
import { number } from "./PhoneGoods.ts"
import type { Race } from "./Race.ts"
import { codeOf, type Round } from "./Round.ts"

const LEFT_MOST = 2
/** Refunds are waited for. Each play has an area of its own. */
const LANES = 5
/** Of each contender. */
const COPIES = 3

/** Buys nearly all numbers of an area at the carrier, as another customer of it would, unless they are bought. */
const sellOut = async (round: Round, areaCode: string, left: number): Promise<void> => {
  const { book, cluster } = round.setting
  const { account, carrier } = cluster.phones
  const at = `${carrier.url}/2010-04-01/Accounts/${account.accountSid}`
  const authorization = `Basic ${Buffer.from(`${account.accountSid}:${account.authToken}`).toString("base64")}`
  const search = `${at}/AvailablePhoneNumbers/US/Local.json?AreaCode=${areaCode}`
  const offered = (await (await fetch(search, { headers: { authorization } })).json()) as {
    readonly available_phone_numbers: ReadonlyArray<{ readonly phone_number: string }>
  }
  for (const { phone_number: number } of offered.available_phone_numbers.slice(left)) {
    const response = await fetch(`${at}/IncomingPhoneNumbers.json`, {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams({ PhoneNumber: number, FriendlyName: "somebody else" })
    })
    if (response.status !== 201) throw new Error(`the carrier did not sell ${number}: ${await response.text()}`)
    book.numbers.push({ race: SET_UP, round: 0, number, kept: true })
  }
}

interface Area {
  readonly areaCode: string
  readonly left: number
}

/** The areas that are nearly sold out, and how many numbers each has left. One round at a time is played in each. */
const free = new WeakMap<Cluster, Promise<Array<Area>>>()

const areasOf = (cluster: Cluster): Promise<Array<Area>> => {
  const areas = free.get(cluster) ?? chooseAreas(cluster)
  free.set(cluster, areas)
  return areas
}

const chooseAreas = async (cluster: Cluster): Promise<Array<Area>> => {
  const { US } = await new CarrierLog(cluster.phones.carrier.url).areaCodes()
  return US.slice(-LANES).map((areaCode, index) => ({ areaCode, left: 1 + (index % LEFT_MOST) }))
}

/** One wallet more than there are numbers: each number is one wallet's, and who has none has its money. */
export const lastNumber: Race = {
  name: "phone: several wallets, the last numbers",
  freshWallets: LEFT_MOST + 1,
  roundsPerPlay: 1,
  alone: false,
  lanes: LANES,
  play: async (round) => {
    const areas = await areasOf(round.setting.cluster)
    const area = areas.shift()
    if (area === undefined) throw new Error("more rounds are played at a time than there are areas for")
    try {
      await playIn(round, area)
    } finally {
      areas.push(area)
    }
  }
}

const playIn = async (round: Round, { areaCode, left }: Area): Promise<void> => {
  await sellOut(round, areaCode, left)
  const wallets = Array.from({ length: left + 1 }, round.setting.fresh)
  const goods = await Promise.all(wallets.map((wallet) => number(round, wallet, "US", areaCode)))
  const contenders = await Promise.all(goods.map(({ request, wallet }) => round.contender(wallet, request)))
  const outcomes = await round.run(contenders, COPIES)
  const won = outcomes.filter((outcome) => outcome.won)
  if (won.length !== left) round.violation(`${won.length} of ${wallets.length} wallets have one of ${left} numbers`)
  for (const outcome of outcomes.filter((each) => !each.won)) {
    const expected = outcome.contender.stake.returned ? "PROVIDER_REJECTED" : "CONFLICT"
    const other = outcome.last.find((reply) => codeOf(reply) !== expected)
    if (other !== undefined) round.violation(`who got no number was told ${other.status} ${other.text}`)
  }
  for (const [index, outcome] of outcomes.entries()) await goods[index]!.expect([outcome])
}
