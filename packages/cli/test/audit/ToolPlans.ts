import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Reply } from "../support/ApiDouble.ts"
import { challenge, KEY, limitsOf, PAYER, rpcReplies } from "../support/PaidAnswers.ts"
import { description, LATER } from "../support/Samples.ts"
import { asking, type Plan, type Plans } from "./Plan.ts"

const DOCTOR = ["doctor"]
const wellServer = {
  "GET /api/v1": [{ data: description }],
  "GET /api/v1/limits": [limitsOf(PAYER)],
  "GET /api/v1/events/realtime-token": [
    { data: { realtime: { token: "t", expiresAt: LATER, websocketUrl: "ws://127.0.0.1:9/s" }, items: [] } }
  ],
  "POST /api/v1/email/mailboxes": [challenge()],
  "POST /rpc": rpcReplies(12_345_678n)
}
const brokenSettings = (folder: string): void => writeFileSync(join(folder, "config.json"), "{", { mode: 0o600 })
const ownProfile = (folder: string): void => {
  const config = { profile: "dev", profiles: { dev: { baseUrl: "https://agentos.example" } } }
  writeFileSync(join(folder, "config.json"), JSON.stringify(config), { mode: 0o600 })
}

/** The description of a sandbox whose parts are all at this URL. */
const sandboxAt = (url: string) => ({
  baseUrl: url,
  emailDomain: "sandbox.agentos.test",
  mail: { host: "127.0.0.1", port: 2525, relayFaultsUrl: url },
  facilitatorUrl: url,
  carrier: { url },
  chain: { rpcUrl: "http://127.0.0.1:8545" },
  wallets: [{ address: PAYER, privateKey: KEY }]
})

/** A minimal copy of the repository for `dev`, with a fake sandbox. */
const repository =
  (rest: string) =>
  (folder: string): void => {
    const place = join(folder, "packages", "sandbox", "src")
    mkdirSync(place, { recursive: true })
    const sandbox = sandboxAt("http://127.0.0.1:8402")
    const program = `
      import { mkdirSync, writeFileSync } from "node:fs"
      const folder = process.argv[process.argv.indexOf("--data") + 1]
      mkdirSync(folder, { recursive: true })
      writeFileSync(folder + "/sandbox.json", ${JSON.stringify(JSON.stringify(sandbox))})
      process.on("SIGTERM", () => process.exit(0))
      setInterval(() => {}, 1_000)
      console.log("Starting the chain")
      ${rest}`
    writeFileSync(join(place, "main.ts"), program)
  }

const json = (status: number, body: object): Reply => ({ status, body })

/** A sandbox at the server's URL, and a file to attach. */
const sandboxFolder = (folder: string, url: string): void => {
  mkdirSync(join(folder, "data"))
  writeFileSync(join(folder, "data", "sandbox.json"), JSON.stringify(sandboxAt(url)))
  writeFileSync(join(folder, "invoice.pdf"), "%PDF")
}

/** A command that acts through a route of the sandbox. */
const inSandbox = (
  command: ReadonlyArray<string>,
  place: string,
  answer: object,
  more: Readonly<Record<string, ReadonlyArray<Reply>>> = {}
): Plan => {
  const args = [...command, "--data", "data"]
  const refused = json(422, { error: "the service refused the mail: 550 5.1.1 No such mailbox here" })
  return {
    success: { args, exit: 0, prepare: sandboxFolder, server: { [place]: [json(200, answer)], ...more } },
    failure: { args, exit: 3, prepare: sandboxFolder, server: { [place]: [refused] } },
    interrupt: "it never waits"
  }
}

/** A host that lists the tools and calls one. */
const PROTOCOL = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } }
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "read_email", arguments: {} } }
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("")

export const TOOL_PLANS: Plans<
  | "mcp"
  | "dev"
  | "doctor"
  | "sandbox mail"
  | "sandbox outbox"
  | "sandbox report"
  | "sandbox call"
  | "sandbox fund"
  | "config list"
  | "config get"
  | "config set"
  | "config path"
  | "completion"
  | "api"
  | "schema"
  | "help"
> = {
  mcp: {
    success: { args: ["mcp", "--max-per-day", "5"], exit: 0, stdin: PROTOCOL },
    failure: { args: ["mcp", "--max-per-call", "1"], exit: 3 },
    interrupt: { args: ["mcp", "--read-only"], exit: 130, interrupt: { said: "Serving" } }
  },
  dev: {
    success: {
      args: ["dev"],
      exit: 0,
      prepare: repository('console.log("ready in 1 s")'),
      interrupt: { said: "Press Ctrl-C" }
    },
    failure: { args: ["dev"], exit: 6, prepare: ownProfile },
    interrupt: { args: ["dev"], exit: 130, prepare: repository(""), interrupt: { said: "Starting" } }
  },
  doctor: {
    success: { args: DOCTOR, exit: 0, server: wellServer },
    failure: { args: DOCTOR, exit: 1, server: { "GET /api/v1": [{ status: 200, body: "<html>" }] } },
    interrupt: { args: DOCTOR, exit: 130, server: { "GET /api/v1": ["hang"] }, interrupt: "unanswered" }
  },
  "sandbox mail": inSandbox(
    ["sandbox", "mail", "--to", "ada@sandbox.agentos.test", "--attach", "invoice.pdf"],
    "POST /sandbox/mail",
    { messageId: "<1@outside.example>", reply: "250 2.6.0 Message accepted" }
  ),
  "sandbox outbox": inSandbox(["sandbox", "outbox", "bob@outside.example"], "GET /sandbox/outbox", {
    items: [
      {
        receivedAt: "2026-07-24T09:00:00.000Z",
        from: "ada@sandbox.agentos.test",
        to: ["bob@outside.example"],
        subject: "Re: Hello",
        text: "Hello!\n",
        messageId: "<1@sandbox.agentos.test>",
        file: "/outbox/1.eml"
      }
    ]
  }),
  "sandbox report": inSandbox(["sandbox", "report", "bob@example.com"], "POST /sandbox/reports", {
    messageId: "<1@sandbox.agentos.test>",
    reply: "250 2.6.0 Message accepted"
  }),
  "sandbox call": inSandbox(
    ["sandbox", "call", "+14155550100", "--say", "Is this Ada?"],
    "POST /sandbox/calls",
    { id: "CA1" },
    {
      "GET /sandbox/calls/CA1": ["in-progress", "completed"].map((state) =>
        json(200, {
          id: "CA1",
          state,
          from: "+12125550150",
          to: "+14155550100",
          seconds: 4,
          heard: ["Hello.", "This is Ada."]
        })
      )
    }
  ),
  "sandbox fund": inSandbox(["sandbox", "fund", PAYER, "--amount", "20"], "POST /sandbox/faucet", {
    address: PAYER,
    amount: "20",
    transaction: `0x${"5".repeat(64)}`
  }),
  "config list": {
    success: {
      args: ["config", "list"],
      exit: 0,
      prepare: ownProfile,
      env: { AGENTOS_BASE_URL: "", AGENTOS_RPC_URL: "https://rpc.example" }
    },
    failure: { args: ["config", "list"], exit: 3, prepare: brokenSettings },
    interrupt: "it never waits"
  },
  "config get": {
    success: { args: ["config", "get", "base-url"], exit: 0 },
    failure: { args: ["config", "get", "wallet-file"], exit: 5 },
    interrupt: "it never waits"
  },
  "config set": {
    success: { args: ["config", "set", "base-url", "https://agentos.example"], exit: 0, env: { AGENTOS_BASE_URL: "" } },
    failure: { args: ["config", "set", "base-url", "http://agentos.example"], exit: 3 },
    interrupt: "it never waits"
  },
  "config path": {
    success: { args: ["config", "path"], exit: 0 },
    failure: { args: ["config", "path", "journal"], exit: 3 },
    interrupt: "it never waits"
  },
  completion: {
    success: { args: ["completion", "bash"], exit: 0 },
    failure: { args: ["completion", "tcsh"], exit: 3 },
    interrupt: "it never waits"
  },
  api: asking(
    ["api", "POST", "/api/v1/email/mailboxes", 'localPart:="ada"'],
    "POST /api/v1/email/mailboxes",
    { data: { items: [] } },
    { reply: challenge(), exit: 7 }
  ),
  schema: {
    success: { args: ["schema", "config", "path"], exit: 0 },
    failure: { args: ["schema", "confg"], exit: 3 },
    interrupt: "it never waits"
  },
  help: {
    success: { args: ["help", "events", "ack"], exit: 0 },
    failure: { args: ["help", "event"], exit: 3 },
    interrupt: "it never waits"
  }
}
