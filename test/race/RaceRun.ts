import type { Cluster } from "../support/Cluster.ts"
import { Book } from "./Book.ts"
import { judge, type Verdict } from "./Judge.ts"
import { createdBy, createMailbox } from "./MailboxRequests.ts"
import type { Race } from "./Race.ts"
import { makeRandom, type Random } from "./Random.ts"
import { provide, Round } from "./Round.ts"
import { makeWallets, type Wallet } from "./Wallet.ts"

export interface RaceRunOptions {
  readonly races: ReadonlyArray<Race>
  /** Of each race. */
  readonly rounds: number
  readonly seed: number
  /** Told of each race that was run. */
  readonly onRace?: (race: Race, millis: number) => void
}

/** Rounds that are played side by side, as far as a race allows it. */
const LANES = 4

/** Races on the servers of a cluster, and judges. */
export const runRaces = async (cluster: Cluster, options: RaceRunOptions): Promise<ReadonlyArray<Verdict>> => {
  const book = new Book()
  await playRaces(cluster, book, options)
  return judge(cluster, book)
}

/** Races, and leaves the judging to the caller, who may have more to put on the books. */
export const playRaces = async (cluster: Cluster, book: Book, options: RaceRunOptions): Promise<void> => {
  const random = makeRandom(options.seed)
  const wallets = await knownWallets(cluster, book, 2 * LANES)
  for (const [index, race] of options.races.entries()) {
    const startedAt = performance.now()
    await playRace(cluster, book, { race, rounds: options.rounds, wallets, random: random.fork(index) })
    options.onRace?.(race, performance.now() - startedAt)
  }
}

/** Wallets that have a mailbox and a token. */
export const knownWallets = async (cluster: Cluster, book: Book, count: number): Promise<ReadonlyArray<Wallet>> => {
  const wallets = await makeWallets(cluster, count, 10_000)
  for (const [index, wallet] of wallets.entries()) {
    const request = createMailbox(`known-${wallet.address.slice(2, 14).toLowerCase()}`)
    const { accessToken, mailbox } = createdBy(await provide(book, wallet, request, index % cluster.servers.length))
    wallet.token = accessToken
    wallet.mailbox = mailbox
  }
  return wallets
}

interface Plan {
  readonly race: Race
  readonly rounds: number
  readonly wallets: ReadonlyArray<Wallet>
  readonly random: Random
}

const playRace = async (cluster: Cluster, book: Book, { race, random, rounds, wallets }: Plan): Promise<void> => {
  const plays = Math.ceil(rounds / race.roundsPerPlay)
  const strangers = [...(await makeWallets(cluster, plays * race.freshWallets))]
  const tally = book.tally(race.name)
  let next = 0
  const playLane = async (lane: readonly [Wallet, Wallet]): Promise<void> => {
    for (let number = next++; number < plays; number = next++) {
      const round = new Round({
        cluster,
        book,
        race: race.name,
        number,
        random: random.fork(number),
        lane,
        wallets,
        fresh: () => {
          const stranger = strangers.pop()
          if (stranger === undefined) throw new Error(`${race.name} takes more wallets than it said`)
          return stranger
        }
      })
      tally.rounds += race.roundsPerPlay
      await race.play(round).catch((error: unknown) => round.violation(`ended with ${String(error)}`))
    }
  }
  const lanes = Array.from(
    { length: race.alone ? 1 : LANES },
    (_, lane) => [wallets[2 * lane]!, wallets[2 * lane + 1]!] as const
  )
  await Promise.all(lanes.map(playLane))
}
