import { parseArgs } from "node:util"
import { endsOf } from "../crash/Report.ts"
import { Shop } from "../crash/Shop.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import { makeRandom, readSeed } from "../support/Random.ts"
import { GROWTH_MAX, growthOf } from "./Memory.ts"
import { runSoak, SERVERS, type SoakResult } from "./Soak.ts"

const help = `Usage: npx -y pnpm@12 soak [--minutes 30] [--clients 6] [--seed N]

Runs three servers over one PostgreSQL as users start them, while clients buy everything, mail arrives and sockets handle
events, and while two of the servers are killed, paused and restarted and providers fail. Then stops the load and waits.
Exits with 1 unless every purchase ended well, no accepted mail and no event is missing, nothing is in flight, the ledger
equals the chain, and the memory of the server that runs throughout grew by less than ${GROWTH_MAX} MB a minute over the
last two thirds.`

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    clients: { type: "string", default: "6" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})

/** A fault a minute, besides those of providers. */
const FAULTS_A_MINUTE = 1

const failuresOf = ({ ledger, mails, memory, open, outcome }: SoakResult): ReadonlyArray<string> => [
  ...linesOf(outcome.violations),
  ...mails.missing.map((subject) => `accepted and in no mailbox: ${subject}`),
  ...(open.events === 0 ? [] : [`${open.events} events are not acknowledged`]),
  ...(open.operations === 0 ? [] : [`${open.operations} operations are in flight`]),
  ...(ledger.status === 0 ? [] : [`ledger ended with ${ledger.status}: ${ledger.output}`]),
  ...(growthOf(memory) < GROWTH_MAX ? [] : [`memory grew by ${growthOf(memory).toFixed(2)} MB a minute`])
]

const minutes = Number(values.minutes)
const clients = Number(values.clients)
const seed = readSeed(values.seed)

if (values.help) {
  console.log(help)
} else if (!(minutes > 0) || !Number.isInteger(clients) || clients < 1 || Number.isNaN(seed)) {
  console.error(help)
  process.exitCode = 2
} else {
  await Shop.with({ database: "postgres", servers: SERVERS, isReal: true }, async (shop) => {
    const result = await runSoak(shop, {
      random: makeRandom(seed),
      seconds: minutes * 60,
      clients,
      faults: Math.ceil(minutes * FAULTS_A_MINUTE),
      say: (line) => console.log(line)
    })
    const { acknowledged, inflicted, mails, memory, outcome } = result
    const failures = failuresOf(result)
    console.log(`\n${endsOf([...outcome.verdict.ends.values()])}`)
    console.log(`${mails.accepted} mails accepted, ${acknowledged} events acknowledged`)
    console.log([...inflicted].map(([kind, times]) => `${times} ${kind}`).join(", "))
    console.log(
      `memory at the end ${((memory.at(-1)?.bytes ?? 0) / 1e6).toFixed(0)} MB, ${growthOf(memory).toFixed(2)} MB a minute`
    )
    for (const line of failures) console.log(line)
    console.log(failures.length === 0 ? "No failure." : `${failures.length} failures.`)
    process.exitCode = failures.length === 0 ? 0 : 1
  })
}
