import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { judge, type Violation } from "../faults/verdict/Judge.ts"
import { tally } from "../faults/verdict/Report.ts"
import { freshName } from "../support/Agent.ts"
import { openDatabase, type OpenDatabase } from "../support/ClusterDatabase.ts"
import type { Random } from "../support/Random.ts"
import { drawMails, type MailEnd, type MailTargets, type RandomMail } from "./RandomMail.ts"
import type { Shop } from "./Shop.ts"

export interface MailKillsOptions {
  readonly random: Random
  readonly mails: number
  /** Whether mail of a killed server waits for its lease, or is due at once. */
  readonly hasLeases: boolean
  /** How long mail may wait for its delivery after the last kill. */
  readonly settleMillisMax?: number
}

export interface MailKillsResult {
  readonly violations: ReadonlyArray<Violation>
  readonly figures: ReadonlyArray<string>
  readonly kills: number
}

const CONNECTIONS = 6
/** Messages whose return paths get mail. */
const SENT = 6
/** Connections and answers between two kills. */
const LIFE = { min: 8, max: 60 }
const SETTLE_MILLIS_MAX = 60_000
const POLL_MILLIS = 200
/** Mails that are withheld from a mailbox after the last kill, whose counts no kill loses. */
const CALM_REFUSALS = 3
const SMTP_TIMEOUT_MILLIS = 20_000

/** A mail with the answers to it. */
interface Sending {
  readonly mail: RandomMail
  readonly accepted: Set<string>
  readonly refused: Map<string, number>
  /** Attempts whose answer did not arrive. */
  lost: number
  /** Attempts that were asked to be repeated. */
  deferred: number
}

interface Stored {
  /** The local parts of the mailboxes that have a message with the token, one for each copy. */
  readonly copies: ReadonlyMap<string, ReadonlyArray<string>>
  /** The tokens of mails that were delivered unread: a server was killed each time that it read them. */
  readonly unread: ReadonlySet<string>
  readonly reports: ReadonlySet<string>
  readonly operatorMails: number
  readonly waiting: number
  readonly countedBefore: number
  readonly countedAfter: number
}

interface Observed {
  readonly sendings: ReadonlyArray<Sending>
  readonly stored: Stored
  readonly owners: ReadonlyMap<string, string>
}

/** Sends random mail while the server is killed, and looks for every mail that it answered with 250. */
export const runMailKills = async (shop: Shop, options: MailKillsOptions): Promise<MailKillsResult> => {
  const database = openDatabase(shop.testbed.cluster.database.url)
  try {
    return await new MailKills(shop, database, options).run()
  } finally {
    await database.close()
  }
}

class MailKills {
  readonly #shop: Shop
  readonly #database: OpenDatabase
  readonly #options: MailKillsOptions
  #progress = 0
  #noticed = Promise.withResolvers<void>()
  #serving: Promise<void> = Promise.resolve()

  constructor(shop: Shop, database: OpenDatabase, options: MailKillsOptions) {
    this.#shop = shop
    this.#database = database
    this.#options = options
  }

  async run(): Promise<MailKillsResult> {
    const { mails, random } = this.#options
    const { owners, targets } = await this.#prepare()
    const sendings = drawMails(targets, mails, random.fork(0)).map((mail): Sending => ({
      mail,
      accepted: new Set(),
      refused: new Map(),
      lost: 0,
      deferred: 0
    }))
    const queue = [...sendings]
    const ended = new AbortController()
    const killing = this.#kill(random.fork(1), ended.signal)
    const send = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) await this.#sendUntilAnswered(next)
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, send)).finally(() => {
      ended.abort()
      this.#noticed.resolve()
    })
    const kills = await killing
    await this.#settle()
    const countedBefore = await this.#countRefused(targets.guarded, 0)
    for (let count = 0; count < CALM_REFUSALS; count++) await this.#sendWithheld(targets, count)
    const countedAfter = await this.#countRefused(targets.guarded, countedBefore + CALM_REFUSALS)
    const stored = { ...(await this.#read()), countedBefore, countedAfter }
    const violations = judge(INVARIANTS, { sendings, stored, owners })
    const figures = [...figuresOf(sendings, kills), `${stored.unread.size} of them were delivered unread`]
    return { violations, kills, figures }
  }

  async #prepare(): Promise<{ readonly targets: MailTargets; readonly owners: ReadonlyMap<string, string> }> {
    const { testbed } = this.#shop
    const wallet = await this.#shop.newTenant()
    await this.#shop.newMailbox(wallet)
    await this.#shop.newMailbox(wallet)
    const [guarded, ...open] = await wallet.mailboxes()
    await wallet.on().pay({
      path: "/api/v1/email/mailboxes/update",
      body: { mailboxId: guarded!.mailboxId, senderPolicy: { block: ["foe.test"] } }
    })
    const owners = new Map([guarded!, ...open].map(({ address }) => [address, address]))
    const returnPaths: Array<MailTargets["returnPaths"][number]> = []
    for (let count = 0; count < SENT; count++) {
      const recipient = `${freshName()}@else.test`
      const { address, mailboxId } = open[count % open.length]!
      await wallet.on().pay({
        path: "/api/v1/email/messages/send",
        body: { mailboxId, to: [recipient], subject: "s", text: "t" }
      })
      const path = await this.#returnPathTo(recipient)
      owners.set(path, address)
      returnPaths.push({ path, recipient })
    }
    const targets = {
      domain: testbed.cluster.emailDomain,
      mailboxes: open.map(({ address }) => address),
      guarded: guarded!.address,
      returnPaths
    }
    return { targets, owners }
  }

  async #returnPathTo(recipient: string): Promise<string> {
    const { outboxDir } = this.#shop.testbed.cluster
    for (const name of (await readdir(outboxDir)).filter((each) => each.endsWith(".json"))) {
      const envelope = JSON.parse(await readFile(join(outboxDir, name), "utf8")) as {
        readonly mailFrom: string
        readonly rcptTo: ReadonlyArray<string>
      }
      if (envelope.rcptTo.includes(recipient)) return envelope.mailFrom
    }
    throw new Error(`the relay has no mail to ${recipient}`)
  }

  #advance(): void {
    this.#progress += 1
    this.#noticed.resolve()
    this.#noticed = Promise.withResolvers()
  }

  /** Kills the server after random numbers of connections and answers, until the mail has been sent. */
  async #kill(random: Random, ended: AbortSignal): Promise<number> {
    for (let kills = 0; ; kills++) {
      const next = this.#progress + LIFE.min + random.integer(LIFE.max - LIFE.min)
      while (this.#progress < next && !ended.aborted) await this.#noticed.promise
      if (ended.aborted) return kills
      const restarted = Promise.withResolvers<void>()
      this.#serving = restarted.promise
      const [server] = this.#shop.testbed.cluster.servers
      await server!.kill()
      if (!this.#options.hasLeases) await this.#endLeases()
      await server!.start()
      restarted.resolve()
    }
  }

  /** Makes mail due that a killed server had leased. */
  async #endLeases(): Promise<void> {
    await this.#database.execute("update inbound_mails set leased_until = null where not completed")
  }

  /** Repeats a mail, as mail servers do, until each recipient was accepted or refused permanently. */
  async #sendUntilAnswered(sending: Sending): Promise<void> {
    const { accepted, mail, refused } = sending
    for (;;) {
      const open = [...mail.recipients.keys()].filter((address) => !accepted.has(address) && !refused.has(address))
      if (open.length === 0) return
      await this.#serving
      this.#advance()
      await this.#attempt(sending, open)
      this.#advance()
    }
  }

  async #attempt(sending: Sending, to: ReadonlyArray<string>): Promise<void> {
    const { accepted, mail, refused } = sending
    const transport = createTransport({
      ...this.#shop.testbed.cluster.servers[0]!.mail,
      tls: { rejectUnauthorized: false },
      socketTimeout: SMTP_TIMEOUT_MILLIS
    })
    const refuse = (address: string, code: number | undefined) => {
      if (code !== undefined && code >= 500) refused.set(address, code)
      else if (code !== undefined) sending.deferred += 1
    }
    try {
      const info = await transport.sendMail({ envelope: { from: mail.mailFrom, to: [...to] }, raw: mail.raw })
      for (const address of info.accepted) accepted.add(address)
      for (const error of info.rejectedErrors ?? []) refuse(error.recipient ?? "", error.responseCode)
    } catch (error) {
      const { rejectedErrors, responseCode } = error as {
        readonly responseCode?: number
        readonly rejectedErrors?: ReadonlyArray<{ readonly recipient?: string; readonly responseCode?: number }>
      }
      if (responseCode === undefined) sending.lost += 1
      else if (rejectedErrors === undefined) for (const address of to) refuse(address, responseCode)
      else for (const each of rejectedErrors) refuse(each.recipient ?? "", each.responseCode)
    } finally {
      transport.close()
    }
  }

  /** Waits until every accepted mail was delivered. */
  async #settle(): Promise<void> {
    const deadline = performance.now() + (this.#options.settleMillisMax ?? SETTLE_MILLIS_MAX)
    while (performance.now() < deadline) {
      if ((await this.#countWaiting()) === 0) return
      await sleep(POLL_MILLIS)
    }
  }

  async #countWaiting(): Promise<number> {
    const [row] = await this.#database.execute(
      "select count(*)::int as waiting from inbound_mails where not completed and not staged"
    )
    return Number(row!["waiting"])
  }

  async #sendWithheld({ guarded, mailboxes }: MailTargets, number: number): Promise<void> {
    const raw = Buffer.from(`From: news@foe.test\r\nSubject: calm ${number}\r\n\r\nHello\r\n`)
    await this.#shop.testbed.mail.deliver({ mailFrom: "news@foe.test", rcptTo: [mailboxes[0]!, guarded] }, raw)
  }

  /** Returns how often the policy of a mailbox refused a sender, once it is as often as expected, or does not become so. */
  async #countRefused(address: string, expected: number): Promise<number> {
    const deadline = performance.now() + SETTLE_MILLIS_MAX
    for (;;) {
      const [row] = await this.#database.execute(
        `select coalesce((refused::json ->> 'sender_refused')::int, 0) as count from mailboxes where address = '${address}'`
      )
      const count = Number(row!["count"])
      if (count >= expected || performance.now() > deadline) return count
      await sleep(POLL_MILLIS)
    }
  }

  async #read(): Promise<Omit<Stored, "countedBefore" | "countedAfter">> {
    const messages = await this.#database.execute(
      `select address, substring(encode(raw, 'escape') from 'Subject: (mail-[0-9]+-[0-9]+)') as token,
         body::json ->> 'malformed' = 'true' or summary::json ->> 'malformed' = 'true' as malformed
       from messages join mailboxes using (mailbox_id) join inbound_mails using (inbound_mail_id)`
    )
    const reports = await this.#database.execute("select report from mail_reports")
    const texts = reports.map(({ report }) => String(report))
    return {
      copies: new Map(
        [...Map.groupBy(messages, ({ token }) => String(token))].map(([token, rows]) => [
          token,
          rows.map(({ address }) => String(address))
        ])
      ),
      unread: new Set(messages.flatMap(({ malformed, token }) => (malformed === true ? [String(token)] : []))),
      reports: new Set(texts.flatMap((text) => text.match(/mail-\d+-\d+/g) ?? [])),
      operatorMails: texts.filter((text) => text.includes("no postmaster")).length,
      waiting: await this.#countWaiting()
    }
  }
}

/** Returns the mailbox to which mail to an address belongs. */
const ownerOf = ({ owners }: Observed, address: string): string =>
  owners.get(address) ?? address.replace(/\+[^@]*@/, "@")

const copiesAt = (observed: Observed, { token }: RandomMail, address: string): number =>
  (observed.stored.copies.get(token) ?? []).filter((each) => each === ownerOf(observed, address)).length

const hasEnded = (observed: Observed, mail: RandomMail, address: string, end: MailEnd): boolean => {
  const isMessage = copiesAt(observed, mail, address) > 0
  const isReport = observed.stored.reports.has(mail.token)
  switch (end) {
    case "message":
      return isMessage
    case "report":
      return isReport || (isMessage && observed.stored.unread.has(mail.token))
    case "message or report":
      return isMessage || isReport
    case "withheld":
    case "for the operator":
      return true
  }
}

const described = ({ lost, mail: { kind, token } }: Sending, address: string): string =>
  `${token}, ${kind}, to ${address}, after ${lost} lost answers`

const INVARIANTS = {
  "a mail that was answered with 250 ends as a message or a report": (observed: Observed) =>
    observed.sendings.flatMap((sending) =>
      [...sending.accepted].flatMap((address) => {
        const end = sending.mail.recipients.get(address)
        return end === undefined || hasEnded(observed, sending.mail, address, end)
          ? []
          : [{ text: `${described(sending, address)}: no ${end}` }]
      })
    ),
  "a mailbox has each mail once": (observed: Observed) =>
    observed.sendings.flatMap((sending) =>
      [...sending.mail.recipients.keys()].flatMap((address) => {
        const copies = copiesAt(observed, sending.mail, address)
        const isKnown = sending.mail.hasMessageId && !observed.stored.unread.has(sending.mail.token)
        const allowed = isKnown ? 1 : 1 + sending.lost
        return copies <= allowed ? [] : [{ text: `${described(sending, address)}: ${copies} copies` }]
      })
    ),
  "a mail that must be refused is refused, and no other": ({ sendings }: Observed) =>
    sendings.flatMap((sending) =>
      [...sending.mail.recipients].flatMap(([address, end]) => {
        const isRefused = sending.refused.has(address)
        return isRefused === (end === undefined)
          ? []
          : [{ text: `${described(sending, address)}: ${sending.refused.get(address) ?? "accepted"}` }]
      })
    ),
  "a refused or withheld mail is not in the mailbox": (observed: Observed) =>
    observed.sendings.flatMap((sending) =>
      [...sending.mail.recipients].flatMap(([address, end]) =>
        (end === undefined || end === "withheld") && copiesAt(observed, sending.mail, address) > 0
          ? [{ text: described(sending, address) }]
          : []
      )
    ),
  "mail to the postmaster is recorded": ({ sendings, stored: { operatorMails } }: Observed) => {
    const toOperator = sendings.filter(({ mail }) => [...mail.recipients.values()].includes("for the operator"))
    const lost = toOperator.reduce((sum, sending) => sum + sending.lost, 0)
    return operatorMails >= toOperator.length && operatorMails <= toOperator.length + lost
      ? []
      : [{ text: `${operatorMails} records of ${toOperator.length} mails and ${lost} lost answers` }]
  },
  "no mail waits for ever": ({ stored: { waiting } }: Observed) =>
    waiting === 0 ? [] : [{ text: `${waiting} mails wait` }],
  "a refused mail is counted in its mailbox": ({ sendings, stored: { countedAfter, countedBefore } }: Observed) => {
    const attempts = sendings
      .filter(({ mail }) => mail.mailFrom === "news@foe.test")
      .reduce((sum, { deferred, lost }) => sum + 1 + lost + deferred, 0)
    // Counts that the server had not written yet may follow.
    return countedAfter <= attempts + CALM_REFUSALS && countedAfter >= countedBefore + CALM_REFUSALS
      ? []
      : [{ text: `${countedBefore} of at most ${attempts}, then ${countedAfter} after ${CALM_REFUSALS} more` }]
  }
}

const figuresOf = (sendings: ReadonlyArray<Sending>, kills: number): ReadonlyArray<string> => {
  const lost = sendings.reduce((sum, sending) => sum + sending.lost, 0)
  const deferred = sendings.reduce((sum, sending) => sum + sending.deferred, 0)
  const ends = sendings.flatMap(({ accepted, mail }) =>
    [...mail.recipients].map(([address, end]) => (accepted.has(address) ? (end ?? "accepted") : "refused"))
  )
  return [`${sendings.length} mails, ${kills} kills, ${lost} lost answers, ${deferred} deferred: ${tally(ends)}`]
}
