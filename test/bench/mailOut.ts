import { dkimRecord, generateDkimKey } from "@agentos/provider-smtp"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Redacted } from "effect"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { type Bench, DURABLE } from "./Bench.ts"
import { startChild } from "./compare/ChildModule.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import type { Side, Work } from "./compare/Side.ts"
import type { SendingCommand } from "./compare/sendersMain.ts"
import type { Received, RelayCommand } from "./peer/relayMain.ts"

const CALLERS = 32
const DOMAIN = "agents.example"
const SELECTOR = "bench"
const TEXT = "A line of text, as people write them in mails to each other, again.\n".repeat(30)

export const mailOut: Bench = {
  summary:
    "signed mail of 2 KiB to a local relay, stored before and after, beside nodemailer's pool with DKIM and two " +
    "statements; each caller is a tenant; without the payment, which `paid` measures",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const postgres = await startPostgres({ settings: DURABLE })
    bench.atEnd(() => postgres.stop())
    const key = await Effect.runPromise(generateDkimKey(DOMAIN, SELECTOR))
    const record = dkimRecord(DOMAIN, SELECTOR, key.privateKey)
    const relay = startChild<RelayCommand, Received>(new URL("peer/relayMain.ts", import.meta.url))
    bench.atEnd(relay.stop)
    const { port } = await relay.ask({ dkimName: record.name, dkimRecord: record.value })
    const dkim = { domainName: DOMAIN, keySelector: SELECTOR, privateKey: Redacted.value(key.privateKey) }

    const openSide = async (name: string, module: string, database: string): Promise<Side> => {
      await execute(postgres.url, `create database ${database}`)
      const sender = startChild<SendingCommand, Work>(new URL(module, import.meta.url))
      bench.atEnd(sender.stop)
      await sender.ask({
        databaseUrl: databaseUrl(postgres.url, database),
        relayPort: port,
        domain: DOMAIN,
        senders: CALLERS,
        dkim
      })
      return {
        name,
        cpuMillis: sender.cpuMillis,
        work: async (millis) => {
          await relay.ask({ received: true })
          const work = await sender.ask({ callers: CALLERS, millis, text: TEXT })
          const received = await relay.ask({ received: true })
          if (received.count !== work.count)
            throw new Error(`${name} sent ${work.count} mails, but the relay received ${received.count}`)
          if (received.dkim.length === 0 || received.dkim.some((result) => result !== "pass"))
            throw new Error(`${name}: DKIM ${received.dkim.join(", ")}`)
          return work
        }
      }
    }
    await compare(bench, {
      title: `signed mail of 2 KiB stored, sent to a relay and stored as sent, ${CALLERS} callers, without a payment`,
      unit: "mails",
      goal: 1,
      ours: await openSide("sending of agentos-server", "compare/sendersMain.ts", "own"),
      peers: [await openSide("nodemailer's pool, `pg`", "peer/nodemailerMain.ts", "peer")]
    })
  }
}
