import { setTimeout as sleep } from "node:timers/promises"
import type { Reply } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { newestBlock, readMovements, untilExpired } from "./ChainLog.ts"
import { createMailbox, sendMessage, updateMailbox } from "./MailboxRequests.ts"
import type { Race } from "./Race.ts"
import { codeOf, type Contender, isOpen, isSuccess, type Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

/** What each wallet has under way when its server stops. */
const KINDS = ["create", "update", "message"] as const
type Kind = (typeof KINDS)[number]

/** The server stops once so many of the payments are in the chain, at the most; it has read all of them by then. */
const PAID_MOST = 18
/** Or after so long, with those that hang. */
const STOP_MILLIS = 8_000
/** For how long another server may be kept from an operation: by a lease of 15 s, or by a transaction that the stopped one left open. */
const TAKEN_OVER_MILLIS = 90_000
/** A server that goes on has answered everything by then, also where it waits for a relay that will not answer. */
const ANSWERED_MILLIS = 75_000

interface Entry {
  readonly contender: Contender
  readonly kind: Kind
  /** What shows that it was done. */
  readonly mark: string
  /** Whether the client asks the other server meanwhile. If not, only the completion job can know of it. */
  readonly retried: boolean
}

/**
 * A server stops in the middle of its work for longer than its leases last, the other finishes it, and the first goes
 * on as if nothing had happened. It must find out that the work is not its own any more.
 */
export const stoppedServer: Race = {
  name: "a server stopped past its lease",
  freshWallets: 0,
  roundsPerPlay: 24,
  alone: true,
  play: async (round) => {
    const { cluster, wallets } = round.setting
    const stopped = round.server()
    const other = (stopped + 1) % cluster.servers.length
    const entries = await Promise.all(
      wallets
        .slice(0, stoppedServer.roundsPerPlay / KINDS.length)
        .flatMap((wallet) => KINDS.map((kind) => enter(round, wallet, kind)))
    )
    await hangSome(round, entries)
    const begin = await newestBlock(cluster)
    const first = entries.map(({ contender }) => round.send(contender, stopped))
    await untilPaid(round, entries, round.random.integer(PAID_MOST + 1), begin)
    cluster.servers[stopped]!.freeze()
    let last: ReadonlyArray<Reply>
    let before: ReadonlyMap<string, string>
    try {
      await hangNoMore(cluster)
      last = await Promise.all(entries.map((entry) => finishElsewhere(round, entry, other)))
      before = await writtenOf(cluster, entries)
    } finally {
      cluster.servers[stopped]!.thaw()
    }
    const answers = await Promise.all(first.map((reply) => within(reply, ANSWERED_MILLIS)))
    const again = await Promise.all(entries.map(({ contender }) => round.finish(contender, stopped)))
    const after = await writtenOf(cluster, entries)
    for (const [nonce, row] of before) {
      if (after.get(nonce) !== row) round.violation(`the stopped server wrote: ${row} became ${after.get(nonce)}`)
    }
    entries.forEach(({ contender, kind, mark }, index) => {
      const answer = answers[index]
      if (answer === undefined) round.violation(`no answer ${ANSWERED_MILLIS} ms after the server went on`)
      // What it was told to come back for is not its last word.
      const told = answer === undefined || isComeBack(answer) ? [] : [answer]
      const outcome = round.conclude(contender, told, [last[index]!, again[index]!])
      if (!outcome.won) expectUnpaid(round, [...told, last[index]!, again[index]!])
      if (kind === "message") round.expectMail(mark, [outcome], true)
    })
  }
}

/** Waits until so many of the payments are in the chain, or until no more are to be expected. */
const untilPaid = async (round: Round, entries: ReadonlyArray<Entry>, count: number, begin: bigint): Promise<void> => {
  const nonces = new Set<string | undefined>(entries.map(({ contender }) => contender.stake.offer.nonce))
  const deadline = performance.now() + STOP_MILLIS
  for (;;) {
    const paid = (await readMovements(round.setting.cluster, begin)).filter(({ nonce }) => nonces.has(nonce))
    if (paid.length >= count || performance.now() > deadline) return
    await sleep(10)
  }
}

const enter = async (round: Round, wallet: Wallet, kind: Kind): Promise<Entry> => {
  const mark = kind === "message" ? `${round.name("stop")}@elsewhere.test` : round.name("stop")
  const requests = {
    create: () => createMailbox(mark),
    update: () => updateMailbox(wallet.mailbox!.mailboxId, mark),
    message: () => sendMessage(wallet, mark)
  }
  const retried = round.random.integer(2) === 0
  return { contender: await round.contender(wallet, requests[kind]()), kind, mark, retried }
}

/**
 * Lets the facilitator settle some of them without ever answering, and in some plays the relay take some of them so.
 * (The relay is waited for so much longer than the facilitator that not every play can afford it.)
 */
const hangSome = async (round: Round, entries: ReadonlyArray<Entry>): Promise<void> => {
  const { facilitatorUrl, relayFaultsUrl } = round.setting.cluster
  const relayHangs = round.setting.number % RELAY_HANGS_EVERY === RELAY_HANGS_EVERY - 1
  for (const { contender, kind, mark } of entries) {
    const where = round.random.integer(4)
    if (where === 0) await hang(facilitatorUrl, { operation: "settle", only: contender.stake.offer.nonce })
    if (where === 1 && kind === "message" && relayHangs) await hang(relayFaultsUrl, { operation: "send", only: mark })
  }
}

const RELAY_HANGS_EVERY = 4

/** What the stopped server did not run into is not meant for the other. */
const hangNoMore = async ({ facilitatorUrl, relayFaultsUrl }: Cluster): Promise<void> => {
  await Promise.all([facilitatorUrl, relayFaultsUrl].map((url) => fetch(`${url}/sandbox/faults`, { method: "DELETE" })))
}

const hang = async (url: string, fault: { readonly operation: string; readonly only: string }): Promise<void> => {
  const response = await fetch(`${url}/sandbox/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...fault, mode: "hang", times: 1 })
  })
  if (!response.ok) throw new Error(`no fault but ${response.status}: ${await response.text()}`)
}

/** The answer of the other server: to a client that keeps asking, or to one that asks once the work is done by itself. */
const finishElsewhere = async (
  round: Round,
  { contender, kind, mark, retried }: Entry,
  other: number
): Promise<Reply> => {
  if (!retried && (await doneByItself(round, contender, kind, mark, other))) {
    const reply = await round.send(contender, other)
    if (!isSuccess(reply)) round.violation(`done without the client, which was then told ${reply.status} ${reply.text}`)
    return reply
  }
  return round.finish(contender, other, TAKEN_OVER_MILLIS, isComeBack)
}

/** Waits until the effect can be seen, or until the authorization has run out unused: then it never began. */
const doneByItself = async (
  round: Round,
  { stake, wallet }: Contender,
  kind: Kind,
  mark: string,
  server: number
): Promise<boolean> => {
  const { cluster } = round.setting
  let expired = false
  void untilExpired(cluster, stake.offer.validBefore).then(() => (expired = true))
  const deadline = performance.now() + TAKEN_OVER_MILLIS
  while (!(await isVisible(wallet, kind, mark, server))) {
    if (expired) {
      const paid = (await readMovements(cluster)).some(({ nonce }) => nonce === stake.offer.nonce)
      if (!paid) return false
    }
    if (performance.now() > deadline) {
      round.violation(`paid for, and not done by itself within ${TAKEN_OVER_MILLIS} ms`)
      return false
    }
    await sleep(500)
  }
  return true
}

const isVisible = async (wallet: Wallet, kind: Kind, mark: string, server: number): Promise<boolean> => {
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
 * Also when the request was not read in time, or when the database gave up a statement that waited for the stopped
 * server, or the stopped server's own connection: the client is then told to repeat what it sent.
 */
const isComeBack = (reply: Reply): boolean =>
  isOpen(reply) ||
  codeOf(reply) === "REQUEST_TIMEOUT" ||
  (codeOf(reply) === "INTERNAL_ERROR" && reply.body.error.retryable)

/** Who got nothing was told so in words after which a client may sign again. */
const expectUnpaid = (round: Round, replies: ReadonlyArray<Reply>): void => {
  const other = replies.find((reply) => codeOf(reply) !== "PAYMENT_REQUIRED")
  if (other !== undefined) round.violation(`not done, and told ${other.status} ${other.text}`)
}

/** What the database holds of those that are done, by nonce: from then on nobody may change it. */
const writtenOf = async (cluster: Cluster, entries: ReadonlyArray<Entry>): Promise<ReadonlyMap<string, string>> => {
  const nonces = entries.map(({ contender }) => `'${contender.stake.offer.nonce.toLowerCase()}'`).join(", ")
  const rows = await execute(
    cluster.database.url,
    `select nonce, state, fence, updated_at::text, transaction, md5(answer_body) as answer,
       (select count(*)::text from ledger_entries where ledger_entries.operation_id = operations.operation_id) as entries
     from operations where nonce in (${nonces}) and state in ('fulfilled', 'refunded', 'unpaid')`
  )
  return new Map(rows.map((row) => [String(row["nonce"]), JSON.stringify(row)]))
}

const within = (reply: Promise<Reply>, millis: number): Promise<Reply | undefined> => {
  const timeout = new AbortController()
  return Promise.race([
    reply.finally(() => timeout.abort()),
    sleep(millis, undefined, { signal: timeout.signal }).catch(() => undefined)
  ])
}
