import { setTimeout as sleep } from "node:timers/promises"
import { createMailbox, sendMessage, updateMailbox } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { clearProviderFaults, planProviderFault } from "../faults/fault/ProviderFaults.ts"
import { newestBlock, untilExpired } from "../faults/observation/Chain.ts"
import { type Answer, codeOf, isSuccess } from "../faults/observation/Purchases.ts"
import type { Cluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { type Contender, isOpen, outcomeOf, type Race, type Round } from "./Round.ts"

/** The operations of each wallet that are under way when the server is paused. */
const KINDS = ["create", "update", "message"] as const
type Kind = (typeof KINDS)[number]

/** The server is paused once a random number of payments, up to this one, are on the chain. */
const PAID_MAX = 18
/** Or after this time, because some hang. */
const PAUSE_MILLIS_MAX = 8_000
/** Another server takes an operation over once a lease of 15 s, or a transaction of the paused server, has ended. */
const TAKEN_OVER_MILLIS_MAX = 90_000
/** A server that continues has answered everything by then, also where it waits for a silent relay. */
const ANSWERED_MILLIS_MAX = 75_000
const RELAY_HANGS_EVERY = 4

interface Entry {
  readonly contender: Contender
  readonly kind: Kind
  /** The name, display name or recipient that shows that it was done. */
  readonly mark: string
  /** Whether the client also asks the other server. If not, only the completion job can finish the operation. */
  readonly isRetried: boolean
}

/** A server is paused for longer than its leases, and another finishes its work. When it continues, it must write nothing. */
export const pausedServer: Race = {
  name: "a server paused past its lease",
  freshWallets: 0,
  roundsPerPlay: 24,
  isAlone: true,
  play: async (round) => {
    const { cluster, wallets } = round.setting
    const paused = round.server()
    const other = (paused + 1) % cluster.servers.length
    const entries = await Promise.all(
      wallets
        .slice(0, pausedServer.roundsPerPlay / KINDS.length)
        .flatMap((wallet) => KINDS.map((kind) => prepare(round, wallet, kind)))
    )
    await hangSome(round, entries)
    const block = await newestBlock(cluster)
    const first = entries.map(({ contender }) => unlessReset(round.send(contender, paused)))
    await untilPaid(round, entries, round.random.integer(PAID_MAX + 1), block)
    cluster.servers[paused]!.freeze()
    let last: ReadonlyArray<Answer>
    let before: ReadonlyMap<string, string>
    try {
      // Faults that the paused server did not meet are not for the other one.
      await clearProviderFaults(cluster)
      last = await Promise.all(entries.map((entry) => finishElsewhere(round, entry, other)))
      before = await finalRows(cluster, entries)
    } finally {
      cluster.servers[paused]!.thaw()
    }
    const late = await Promise.all(first.map((answer) => within(answer, ANSWERED_MILLIS_MAX)))
    const again = await Promise.all(entries.map(({ contender }) => round.finish(contender, paused)))
    const after = await finalRows(cluster, entries)
    for (const [nonce, row] of before) {
      if (after.get(nonce) !== row) round.report(`the paused server wrote: ${row} became ${after.get(nonce)}`)
    }
    const outcomes = entries.map(({ contender }, index) => {
      const answer = late[index]
      if (answer === undefined) round.report(`no answer within ${ANSWERED_MILLIS_MAX} ms after the server continued`)
      const isFinal = answer !== undefined && answer !== RESET && !mustRepeat(answer)
      return outcomeOf(contender, isFinal ? [answer] : [], [last[index]!, again[index]!])
    })
    // An operation that was not done leaves its client free to sign again.
    round.addContest({ outcomes, losingCodes: ["PAYMENT_REQUIRED"] })
    for (const [index, { kind, mark }] of entries.entries()) {
      if (kind === "message") round.expectMail(mark, [outcomes[index]!], true)
    }
  }
}

/** Waits until this many of the payments are on the chain, or until no more are to be expected. */
const untilPaid = async (round: Round, entries: ReadonlyArray<Entry>, count: number, block: bigint): Promise<void> => {
  const log = new TokenLog(round.setting.cluster.chain, block)
  const nonces = new Set<string | undefined>(entries.map(({ contender }) => contender.payment.authorization.nonce))
  const deadline = performance.now() + PAUSE_MILLIS_MAX
  for (;;) {
    const paid = (await log.read()).filter(({ nonce }) => nonces.has(nonce))
    if (paid.length >= count || performance.now() > deadline) return
    await sleep(10)
  }
}

const prepare = async (round: Round, wallet: Wallet, kind: Kind): Promise<Entry> => {
  const mark = kind === "message" ? `${round.name("pause")}@elsewhere.test` : round.name("pause")
  const { mailboxId } = wallet.mailbox!
  const requests = {
    create: () => createMailbox(mark),
    update: () => updateMailbox(mailboxId, mark),
    message: () => sendMessage(mailboxId, mark)
  }
  const isRetried = round.random.integer(2) === 0
  return { contender: await round.contender(wallet, requests[kind]()), kind, mark, isRetried }
}

/** Lets the facilitator hang on some payments, and in some plays the relay, which the server waits for much longer. */
const hangSome = async (round: Round, entries: ReadonlyArray<Entry>): Promise<void> => {
  const { cluster, number } = round.setting
  const relayHangs = number % RELAY_HANGS_EVERY === RELAY_HANGS_EVERY - 1
  for (const { contender, kind, mark } of entries) {
    const place = round.random.integer(4)
    const { nonce } = contender.payment.authorization
    if (place === 0) await planProviderFault(cluster, { operation: "settle", mode: "hang", only: nonce })
    if (place === 1 && kind === "message" && relayHangs) {
      await planProviderFault(cluster, { operation: "send", mode: "hang", only: mark })
    }
  }
}

/** The other server's answer: to a client that keeps asking, or to one that asks once the work was done without it. */
const finishElsewhere = async (round: Round, entry: Entry, other: number): Promise<Answer> => {
  const { contender, isRetried } = entry
  if (!isRetried && (await isDoneWithoutClient(round, entry, other))) {
    const answer = await round.send(contender, other)
    if (!isSuccess(answer)) round.report(`done without its client, which was answered ${answer.status} ${answer.text}`)
    return answer
  }
  return round.finish(contender, other, TAKEN_OVER_MILLIS_MAX, mustRepeat)
}

/** Waits until the result is visible, or until the authorization has expired unused. */
const isDoneWithoutClient = async (round: Round, entry: Entry, server: number): Promise<boolean> => {
  const { cluster } = round.setting
  const { nonce, validBefore } = entry.contender.payment.authorization
  const log = new TokenLog(cluster.chain)
  let isExpired = false
  void untilExpired(cluster, validBefore).then(() => (isExpired = true))
  const deadline = performance.now() + TAKEN_OVER_MILLIS_MAX
  while (!(await isVisible(entry, server))) {
    if (isExpired && !(await log.read()).some((movement) => movement.nonce === nonce)) return false
    if (performance.now() > deadline) {
      round.report(`paid, and not done without its client within ${TAKEN_OVER_MILLIS_MAX} ms`)
      return false
    }
    await sleep(500)
  }
  return true
}

const isVisible = async ({ contender: { wallet }, kind, mark }: Entry, server: number): Promise<boolean> => {
  if (kind !== "message") {
    const mailboxes = await wallet.mailboxes(server)
    return mailboxes.some(({ displayName, localPart }) => localPart === mark || displayName === mark)
  }
  const path = `/api/v1/email/messages/query?mailboxId=${wallet.mailbox!.mailboxId}&limit=20`
  const reply = await wallet.on(server).send({ path })
  const items = reply.body.data["items"] as unknown as ReadonlyArray<{ readonly subject: string }>
  return items.some(({ subject }) => subject === mark)
}

/**
 * Also if the request was not read in time, or if the database cancelled a statement that waited for the paused server, or
 * ended the paused server's connection.
 */
const mustRepeat = (answer: Answer): boolean =>
  isOpen(answer) ||
  codeOf(answer) === "REQUEST_TIMEOUT" ||
  (answer.retryable && ["INTERNAL_ERROR", "SERVICE_UNAVAILABLE"].includes(codeOf(answer)))

/** The rows of final operations, by nonce. They must not change any more. */
const finalRows = async (cluster: Cluster, entries: ReadonlyArray<Entry>): Promise<ReadonlyMap<string, string>> => {
  const nonces = entries.map(({ contender }) => `'${contender.payment.authorization.nonce}'`).join(", ")
  const rows = await execute(
    cluster.database.url,
    `select nonce, state, fence, updated_at::text, transaction, md5(answer_body) as answer,
       (select count(*)::text from ledger_entries where ledger_entries.operation_id = operations.operation_id) as entries
     from operations where nonce in (${nonces}) and state in ('fulfilled', 'refunded', 'unpaid')`
  )
  return new Map(rows.map((row) => [String(row["nonce"]), JSON.stringify(row)]))
}

const RESET = "reset"

/**
 * Answers with `RESET` if the connection was reset: a server that continues closes connections that were idle for too
 * long, also those that bring a request that it had not read.
 */
const unlessReset = (answer: Promise<Answer>): Promise<Answer | typeof RESET> =>
  answer.catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined
    if (cause instanceof Error && "code" in cause && cause.code === "ECONNRESET") return RESET
    throw error
  })

const within = async <A>(answer: Promise<A>, millis: number): Promise<A | undefined> => {
  const timeout = new AbortController()
  return Promise.race([
    answer.finally(() => timeout.abort()),
    sleep(millis, undefined, { signal: timeout.signal }).catch(() => undefined)
  ])
}
