import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createTransport } from "nodemailer"
import type { MailboxFields } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { Treasury } from "../support/Treasury.ts"
import { Wallet } from "../faults/client/Wallet.ts"

const help = `Usage: npx -y pnpm@12 incident

Starts a service of two servers on PostgreSQL with customers, breaks three things, and prints the folder of its operator on
call: the variables of the servers, for the commands of agentos-server, and a page with the numbers of those who can be
called about what is not the operator's. What is broken is said nowhere but in test/incident/incidentMain.ts. Runs until it
is interrupted.`

const { values } = parseArgs({ options: { help: { type: "boolean", short: "h", default: false } } })
if (values.help) {
  console.log(help)
  process.exit(0)
}

const OPERATOR_TOKEN = "incident".repeat(5)
const CUSTOMERS = 3
const FUNDS = 100

const failMail = async (cluster: Cluster, fault: object): Promise<void> => {
  const response = await fetch(`${cluster.relayFaultsUrl}/sandbox/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operation: "send", times: 1_000, ...fault })
  })
  if (!response.ok) throw new Error(`the relay refused a fault: ${await response.text()}`)
}

/** Each customer sends mail that the relay does not take, and gets mail that a trigger refuses; one is owed a refund. */
const breakAll = async (cluster: Cluster): Promise<void> => {
  const treasury = new Treasury(cluster.chain)
  const customers = Array.from({ length: CUSTOMERS }, () => new Wallet(cluster.servers))
  await treasury.fund(
    customers.map(({ address }) => address),
    FUNDS
  )
  const boxes: Array<MailboxFields> = []
  for (const [index, customer] of customers.entries()) boxes.push(await customer.on().createMailbox(`team${index}`))
  const send = (index: number, to: string) =>
    customers[index]!.on().pay({
      path: "/api/v1/email/messages/send",
      body: { mailboxId: boxes[index]!.mailboxId, to: [to], subject: `Offer for ${to}`, text: "As agreed." }
    })

  const money = await new Chain(cluster).balanceOf(cluster.refundWallet)
  await treasury.transfer(cluster.refundWallet, cluster.chain.payTo, money)
  await failMail(cluster, { mode: "reject", only: "closed@outside.example" })
  await send(0, "closed@outside.example")

  await failMail(cluster, { mode: "before" })
  await Promise.all(customers.map((_, index) => send(index, `client${index}@outside.example`)))

  await execute(
    cluster.database.url,
    `create function audit_mail() returns trigger language plpgsql as $$
       begin raise exception 'permission denied for schema archive' using errcode = '42501'; end $$`,
    "create trigger audit_mail before insert on messages for each row when (new.inbound_mail_id is not null) execute function audit_mail()"
  )
  const transport = createTransport({ ...cluster.servers[1]!.mail, tls: { rejectUnauthorized: false } })
  for (const { address } of boxes)
    await transport.sendMail({ from: "friend@outside.example", to: address, subject: "Question", text: "When?" })
  transport.close()
  // A mail whose relay does not answer is retried for a day; mail that the trigger refuses waits.
  const [found] = await execute(
    cluster.database.url,
    `select (select count(*) from operations where state = 'refund_due') as refunds,
       (select count(*) from operations where state = 'fulfilling') as outbound,
       (select count(*) from inbound_mails where not completed) as inbound`
  )
  const seen = ["refunds", "outbound", "inbound"].map((name) => Number(found?.[name]))
  if (seen.join() !== [1, CUSTOMERS, CUSTOMERS].join()) throw new Error(`not everything broke: ${seen.join()}`)
}

/** Those who answer a call, by the words of the caller. */
const peopleOf = (cluster: Cluster): Readonly<Record<string, (what: string) => Promise<unknown>>> => ({
  "/relay-support": () => fetch(`${cluster.relayFaultsUrl}/sandbox/faults`, { method: "DELETE" }),
  "/database-team": (trigger) =>
    execute(cluster.database.url, `drop trigger ${trigger.replaceAll(/\W/g, "")} on messages`),
  "/treasurer": (usdt) =>
    new Treasury(cluster.chain).transfer(cluster.chain.payTo, cluster.refundWallet, BigInt(Number(usdt) * 1e6))
})

const folder = await mkdtemp(join(tmpdir(), "agentos-incident-"))
process.env["AGENTOS_OPERATOR_TOKEN"] = OPERATOR_TOKEN
const cluster = await startCluster({
  servers: 2,
  telephones: true,
  environment: { AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN }
})
const people = peopleOf(cluster)
const telephone = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://telephone")
  const answer =
    people[pathname]?.(searchParams.get("what") ?? "") ?? Promise.reject(new Error("no one has this number"))
  answer.then(
    () => response.end("It is done.\n"),
    (error: unknown) => response.writeHead(400).end(`That was not possible: ${String(error)}\n`)
  )
}).listen(0, "127.0.0.1")
try {
  await once(telephone, "listening")
  await breakAll(cluster)
  const { port } = telephone.address() as AddressInfo
  const own = Object.entries(cluster.servers[0]!.environment()).filter(([name]) =>
    /^(AGENTOS_|DATABASE_URL)/.test(name)
  )
  await writeFile(join(folder, "server.env"), own.map(([name, value]) => `${name}=${value ?? ""}`).join("\n"))
  await writeFile(
    join(folder, "handover.md"),
    `# Handover

server.env has the variables of the first server. Both are watched at AGENTOS_OPERATOR_LISTEN: ${cluster.servers
      .map((server) => server.environment()["AGENTOS_OPERATOR_LISTEN"])
      .join(
        " and "
      )}. Customers say that mail does not leave, that mail does not arrive, and that money does not come back.

Not ours; \`curl\` calls them, and they do nothing but obey:

- support of the relay's host, who unblock our account: http://127.0.0.1:${port}/relay-support
- owners of the database, who drop a trigger on messages: http://127.0.0.1:${port}/database-team?what=NAME
- the treasurer, who pays USDT from the treasury to the refund wallet: http://127.0.0.1:${port}/treasurer?what=AMOUNT
`
  )
  console.log(folder)
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
} finally {
  telephone.close()
  await cluster.stop()
  await rm(folder, { recursive: true })
}
