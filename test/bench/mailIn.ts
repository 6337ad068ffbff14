import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { newWallets } from "../faults/client/Wallet.ts"
import { databaseUrl, execute, openDatabase } from "../support/ClusterDatabase.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Bench, BenchRun } from "./Bench.ts"
import { startChild } from "./compare/ChildModule.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import type { Side, Work } from "./compare/Side.ts"
import { startPeer } from "./compare/HttpSides.ts"
import type { Mailing } from "./compare/mailersMain.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { treeCpuMillis } from "./ProcessUsage.ts"
import type { SmtpServerOptions } from "./peer/smtpServerMain.ts"

const SENDER_DOMAIN = "outside.example"
/** A mail, and the number of its senders. */
export const SMALL_MAIL = { what: "2 KiB", textBytes: 2 * 1024, attachmentBytes: 0, callers: 32 }
const SIZES = [
  SMALL_MAIL,
  // The server takes 28 MiB from one address at a time, counted by the capacity of its buffers.
  { what: "1 MiB with an attachment", textBytes: 2 * 1024, attachmentBytes: 1024 * 1024, callers: 8 }
]
const STORED_WITHIN_MILLIS = 120_000

/** One sender and one mailbox receive everything. */
export const WITHOUT_MAIL_LIMITS = {
  AGENTOS_MAILBOX_LIMIT_MESSAGES: "0",
  AGENTOS_MAILBOX_LIMIT_MB: "0",
  AGENTOS_TENANT_MAIL_LIMIT_MESSAGES: "0",
  AGENTOS_TENANT_MAIL_LIMIT_MB: "0",
  AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER: "1000000",
  AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK: "1000000",
  AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX: "1000000",
  AGENTOS_SMTP_MESSAGES_PER_HOUR: "1000000"
}

/** Starts the senders of signed mail. Returns what makes them send to a server for some milliseconds. */
export const startMailers = (bench: BenchRun, zoneFile: string) => {
  const mailers = startChild<Mailing, Work>(new URL("compare/mailersMain.ts", import.meta.url))
  bench.atEnd(mailers.stop)
  const dkim = {
    domainName: SENDER_DOMAIN,
    keySelector: "sandbox",
    privateKey: readFileSync(join(dirname(zoneFile), "outside-dkim.pem"), "utf8")
  }
  return (mailing: Omit<Mailing, "from" | "dkim">) => mailers.ask({ ...mailing, from: `sender@${SENDER_DOMAIN}`, dkim })
}

/** A server that stores mail. Its database counts the mails that passed DKIM and SPF by a query. */
export interface MailReceiver {
  readonly name: string
  readonly pid: number
  readonly host: string
  readonly port: number
  readonly to: string
  readonly database: string
  readonly query: string
}

/** How the database of agentos-server counts them. */
export const storedIn = (database: string): Pick<MailReceiver, "database" | "query"> => ({
  database,
  query: "select count(*)::integer as count from events where type = 'email.received'"
})

/** A side that receives mails until all are stored. */
export const mailSide = (
  sendMail: ReturnType<typeof startMailers>,
  { database, host, name, pid, port, query, to }: MailReceiver,
  { attachmentBytes, callers, textBytes }: typeof SMALL_MAIL
): Side => ({
  name,
  cpuMillis: () => treeCpuMillis(pid),
  work: async (millis) => {
    const stored = openDatabase(database)
    try {
      const read = async () => Number((await stored.execute(query))[0]!["count"])
      const before = await read()
      const startedAt = performance.now()
      const { count } = await sendMail({ host, port, to, textBytes, attachmentBytes, callers, millis })
      while ((await read()) < before + count) {
        if (performance.now() - startedAt > STORED_WITHIN_MILLIS) throw new Error(`${name}: mails are missing`)
        await sleep(50)
      }
      return { count, millis: performance.now() - startedAt }
    } finally {
      await stored.close()
    }
  }
})

export const mailIn: Bench = {
  summary:
    "signed mail from its connection until its event is stored, 2 KiB and 1 MiB, beside smtp-server with mailauth, " +
    "mailparser and one INSERT",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench, { environment: WITHOUT_MAIL_LIMITS })
    const { cluster } = server.rig
    const [wallet] = await newWallets(cluster, new Treasury(cluster.chain), 1, 100)
    const { address } = await wallet!.on(0).createMailbox("bench")
    const { mail, environment } = cluster.servers[0]!
    const zoneFile = environment()["AGENTOS_DNS_ZONE_FILE"]!
    const { url } = cluster.database
    await execute(url, "create database peer")
    const peerUrl = databaseUrl(url, "peer")
    const options: SmtpServerOptions = {
      databaseUrl: peerUrl,
      domain: cluster.emailDomain,
      zone: JSON.parse(readFileSync(zoneFile, "utf8")) as SmtpServerOptions["zone"]
    }
    const peer = await startPeer(bench, "smtp-server", "smtpServerMain.ts", options)
    const sendMail = startMailers(bench, zoneFile)
    for (const size of SIZES)
      await compare(bench, {
        title: `mail of ${size.what} from its connection until it is stored with its event, ${size.callers} callers`,
        unit: "mails",
        goal: 1.2,
        ours: mailSide(
          sendMail,
          { name: server.name, pid: server.pid, host: mail.host, port: mail.port, to: address, ...storedIn(url) },
          size
        ),
        peers: [
          mailSide(
            sendMail,
            {
              name: "smtp-server, mailauth, mailparser, `pg`",
              pid: peer.pid,
              host: mail.host,
              port: Number(new URL(peer.url).port),
              to: address,
              database: peerUrl,
              query: `select count(*)::integer as count from mails where authentication::text like '%"dkim":["pass"],"spf":"pass"%'`
            },
            size
          )
        ]
      })
  }
}
