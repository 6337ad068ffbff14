import type { Cluster } from "../support/Cluster.ts"
import { Book, SET_UP } from "./Book.ts"
import { createdBy, createMailbox } from "./MailboxRequests.ts"
import { boughtBy, buyNumber } from "./PhoneRequests.ts"
import { PhoneWitness } from "./PhoneWitness.ts"
import type { Race } from "./Race.ts"
import { makeRandom, type Random } from "./Random.ts"
import { provide, Round } from "./Round.ts"
import { fund, makeWallets, type Wallet } from "./Wallet.ts"

/** Races on the servers of a cluster. */
export interface RaceRun {
  readonly book: Book
  readonly witness: PhoneWitness
  /** Plays so many rounds of a race, or a few more where one play is several rounds. */
  readonly play: (race: Race, rounds: number) => Promise<void>
}

/** Rounds that are played side by side, as far as a race allows it. */
const LANES = 4
/** Wallets that have bought a mailbox and a number before the races begin: two for each lane. */
export const KNOWN_WALLETS = 2 * LANES

/** What each of those has, and where refunds come from: enough for the longest run, in USDT. */
const AMPLE = 100_000

/** Gets ready to race. The same seed makes the same choices. */
export const openRaces = async (cluster: Cluster, seed: number): Promise<RaceRun> => {
  const book = new Book()
  const witness = new PhoneWitness(cluster)
  const random = makeRandom(seed)
  await fund(cluster, [cluster.refundWallet], AMPLE)
  const wallets = await knownWallets(cluster, book, KNOWN_WALLETS)
  let races = 0
  return {
    book,
    witness,
    play: async (race, rounds) => {
      await playRace(cluster, book, { race, rounds, wallets, random: random.fork(races++) })
      await witness.look()
    }
  }
}

/** Wallets that have a mailbox, a number and a token. */
const knownWallets = async (cluster: Cluster, book: Book, count: number): Promise<ReadonlyArray<Wallet>> => {
  const wallets = await makeWallets(cluster, count, AMPLE)
  const equip = async (wallet: Wallet, server: number) => {
    const request = createMailbox(`known-${wallet.address.slice(2, 14).toLowerCase()}`)
    const { accessToken, mailbox } = createdBy(await provide(book, wallet, request, server))
    wallet.token = accessToken
    wallet.mailbox = mailbox
    const { number, phoneNumberId } = boughtBy(await provide(book, wallet, buyNumber(cluster, "US"), server))
    wallet.phoneNumberId = phoneNumberId
    book.numbers.push({ race: SET_UP, round: 0, number, kept: true })
  }
  await Promise.all(wallets.map((wallet, index) => equip(wallet, index % cluster.servers.length)))
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
  const lanes = Array.from({ length: race.alone ? 1 : (race.lanes ?? LANES) }, (_, index) => {
    const lane = index % LANES
    return [wallets[2 * lane]!, wallets[2 * lane + 1]!] as const
  })
  await Promise.all(lanes.map(playLane))
}
