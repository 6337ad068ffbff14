import { OPERATIONS, operations } from "@agentos/api"
import { builtProgram } from "@agentos/cli/testing"
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { delimiter, dirname, join } from "node:path"
import { createInterface, type Interface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { generatePrivateKey } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { usePhone } from "../support/usePhone.ts"
import { SampleCustomer } from "./SampleCustomer.ts"

/** Every sample of the documentation, as a server shows it, is executed against the sandbox. */
const host = usePhone()

type Name = keyof typeof OPERATIONS

/** All operations, each after those that create its resources. */
const ORDER: ReadonlyArray<Name> = [
  ...(["describeApi", "listServices", "getService", "listPaymentNetworks", "listVoices", "registerDomain"] as const),
  ...(["createMailbox", "listMailboxes", "updateMailbox", "sendMessage", "queryMessages"] as const),
  ...([
    "getAttachment",
    "getRawMessage",
    "queryThreads",
    "updateMessages",
    "cancelMessage",
    "listSuppressions",
    "liftSuppression",
    "purchaseUsNumber",
    "purchaseCanadaNumber",
    "listNumbers"
  ] as const),
  ...(["renewNumber", "addInboundMinutes", "callOneMinute", "callFiveMinutes", "extendCall", "getCall"] as const),
  ...(["getTranscript", "listCalls", "getRealtimeToken", "listEvents", "getEvent", "acknowledgeEvent"] as const),
  ...(["acknowledgeEventById", "replayEvents", "acknowledgeAllEvents", "setEventWebhook"] as const),
  ...([
    "getEventWebhook",
    "listWebhookDeliveries",
    "deleteEventWebhook",
    "readPaymentStatus",
    "getPayment",
    "listLimits"
  ] as const),
  ...(["releaseNumber", "deleteMailbox", "recoverToken", "revokeTokens"] as const)
]

/** Guides whose commands are for this server. The programs of the guides on hosting have tests of their own. */
const GUIDES = ["quickstart", "pay", "authentication", "mail", "phone", "events", "limits", "tools", "errors"]

const FOLDER = fileURLToPath(new URL("../dist/samples", import.meta.url))
const RUNNER = fileURLToPath(new URL("sampleRunnerMain.ts", import.meta.url))
const PYTHON_RUNNER = fileURLToPath(new URL("sampleRunner.py", import.meta.url))
const SAMPLE_MILLIS = 120_000

const python = ["/usr/bin/python3", "python3"].find(
  (program) => spawnSync(program, ["-c", "import httpx"]).status === 0
)
const pythonReason = python === undefined ? " (skipped: install Debian's package python3-httpx)" : ""

const run = promisify(execFile)

let folder = ""
beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true })
  folder = mkdtempSync(join(FOLDER, "run-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pageOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the blocks of code of a page in a language. */
const samplesOf = async (page: string, ...languages: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const response = await fetch(`${host.sandbox.baseUrl}/docs/${page}.md`)
  expect([page, response.status]).toEqual([page, 200])
  const blocks = [...(await response.text()).matchAll(/^```(\w+)[^\n]*\n([^]*?)^```$/gm)]
  return blocks.flatMap(([, language = "", code = ""]) => (languages.includes(language) ? [code] : []))
}

const shell = async (code: string, environment: Readonly<Record<string, string>>): Promise<string> => {
  const { stdout } = await run("sh", ["-ec", code], {
    cwd: folder,
    env: { ...process.env, ...environment },
    timeout: SAMPLE_MILLIS
  })
  return stdout
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0)
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const headerIn = (answer: string, name: string): string =>
  new RegExp(`^${name}: (.*?)\\r?$`, "im").exec(answer)?.[1] ?? ""

const statusIn = (answer: string): number => Number(/^HTTP\/[\d.]+ (\d+)/.exec(answer)?.[1])

const errorIn = (answer: string): string => /\{"error":.*/.exec(answer)?.[0] ?? ""

/** Executes the samples of an operation in curl. */
const executeCurl = async (owner: SampleCustomer, name: Name): Promise<void> => {
  const { entry, status } = OPERATIONS[name]
  const [first = "", second] = (await samplesOf(`reference/${pageOf(name)}`, "sh")).map((code) => owner.filled(code))
  // A reader runs both in one shell, which keeps the variable.
  const answer = await shell(`${first}\necho; echo "NAME=$NAME"`, owner.environment)
  const [, variable = ""] = /^NAME=(.*)$/m.exec(answer) ?? []
  if (second === undefined) {
    if (name === "registerDomain") return expect(errorIn(answer)).toContain("SERVICE_UNAVAILABLE")
    if (name === "getAttachment" || name === "getRawMessage") {
      const file = name === "getAttachment" ? "attachment" : "message.eml"
      return expect(statSync(join(folder, file)).size).toBeGreaterThan(0)
    }
    return expect(JSON.parse(answer.split("\n")[0] ?? "")).toHaveProperty("data")
  }
  expect([name, statusIn(answer)]).toEqual([name, 402])
  if (entry.price === null) {
    const header = await owner.signIn(`${host.sandbox.baseUrl}${entry.path}`)
    return expect(JSON.parse(await shell(second, { SIGN_IN_WITH_X: header }))).toHaveProperty("data")
  }
  await owner.sign(headerIn(answer, "PAYMENT-REQUIRED"))
  const paid = await shell(second, { ...owner.environment, NAME: variable })
  expect([name, statusIn(paid), errorIn(paid)]).toEqual([name, status, ""])
}

/** Executes programs in a process of their own, which loads the libraries once. */
class ProgramRunner {
  readonly #process: ChildProcess
  readonly #lines: Interface
  readonly #waiting: Array<(line: string) => void> = []
  #count = 0
  output = ""

  constructor(program = process.execPath, ...parameters: ReadonlyArray<string>) {
    const command = parameters.length === 0 ? [RUNNER] : parameters
    this.#process = spawn(program, command, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] })
    this.#lines = createInterface({ input: this.#process.stdout! })
    this.#lines.on("line", (line) => {
      this.output += `${line}\n`
      if (/^(?:ended|failed) /.test(line)) this.#waiting.shift()?.(line)
    })
  }

  /** Runs a program to its end, and returns how it ended. */
  async execute(code: string, environment: Readonly<Record<string, string>>, extension: string): Promise<string> {
    const file = this.start(code, environment, extension)
    const line = await new Promise<string>((resolve) => this.#waiting.push(resolve))
    return line.replace(` ${file}`, "")
  }

  /** Starts a program, and returns its file. */
  start(code: string, environment: Readonly<Record<string, string>>, extension: string): string {
    this.#count += 1
    const file = join(folder, `sample-${process.pid}-${this.#count}.${extension}`)
    writeFileSync(file, extension === "py" ? code : `${code}\nexport {}\n`)
    this.#process.stdin?.write(`${JSON.stringify({ file, environment })}\n`)
    return file
  }

  async stop(): Promise<void> {
    const closed = once(this.#process, "close")
    this.#process.kill()
    await closed
  }
}

const privateKeyOf = (owner: SampleCustomer): Readonly<Record<string, string>> => ({
  ...owner.environment,
  AGENTOS_PRIVATE_KEY: owner.privateKey
})

/** Calls a number as a person outside, and returns the texts that the person heard. */
const heardBy = async (number: string, ...lines: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const calls = `${host.sandbox.carrier.url}/sandbox/calls`
  const placed = await fetch(calls, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ from: "+12125550150", to: number, lines })
  })
  const { id } = (await placed.json()) as { readonly id: string }
  const read = async () =>
    (await (await fetch(`${calls}/${id}`)).json()) as { readonly state: string; readonly heard: ReadonlyArray<string> }
  await expect.poll(async () => (await read()).state, { timeout: SAMPLE_MILLIS }).toBe("completed")
  return (await read()).heard.map((text) => text.trim())
}

/** Runs a sample of the client's page that waits for mail or calls, and causes them. Returns its first line. */
const follow = async (owner: SampleCustomer, code: string, address: string): Promise<string> => {
  const runner = new ProgramRunner()
  runner.start(owner.filled(code), privateKeyOf(owner), "ts")
  const printed = async (pattern: RegExp): Promise<void> => {
    await expect.poll(() => runner.output, { timeout: SAMPLE_MILLIS }).toMatch(pattern)
  }
  try {
    if (code.includes("agent.events(")) {
      await owner.receiveMail(address)
      await printed(/^Hello$/m)
      return address
    }
    await printed(/^\S+[@\d]\S+$/m)
    const [first = ""] = /^\S+[@\d]\S+$/m.exec(runner.output) ?? []
    if (code.includes("waitForCode")) {
      await owner.receiveMail(first, "Your verification code is 482913.")
      await printed(/^outside\.example sent the code 482913$/m)
    } else if (code.includes("turn.reply")) {
      const heard = await heardBy(first, "Are you open?", "Bye.")
      expect(heard.slice(-2)).toEqual(["You said: Are you open?", "Goodbye."])
    } else {
      const repliesOf = async () =>
        (await owner.messagesOf(first)).filter(
          ({ attachments, direction }) =>
            direction === "outbound" && attachments.some(({ filename }) => filename === "plan.txt")
        ).length
      const before = await repliesOf()
      await owner.receiveMail(first)
      await printed(/^bob@outside\.example sent note\.txt of 4 bytes$/m)
      // Mail of earlier samples that is still pending is answered too.
      await expect.poll(repliesOf, { timeout: SAMPLE_MILLIS }).toBeGreaterThan(before)
    }
    return first
  } finally {
    await runner.stop()
  }
}

/** Runs every sample of the client's page, and returns the address of the mailbox that they open. */
const runClientPage = async (owner: SampleCustomer): Promise<string> => {
  const runner = new ProgramRunner()
  let address = ""
  try {
    for (const code of await samplesOf("client", "ts")) {
      if (/for await|waitForCode/.test(code)) {
        const first = await follow(owner, code, address)
        if (first.includes("@")) expect(first).toBe(address)
        continue
      }
      expect(await runner.execute(owner.filled(code), privateKeyOf(owner), "ts")).toBe("ended")
      address ||= /^(\S+@\S+) spent/m.exec(runner.output)?.[1] ?? ""
    }
    expect(runner.output).toContain("SPEND_LIMIT_EXCEEDED no false")
    return address
  } finally {
    await runner.stop()
  }
}

/** Runs the samples of agentctl's page in a home of their own, and returns the mailboxes of the wallet. */
const runAgentctlPage = async (privateKey: string, home: string, isFirst: boolean): Promise<string> => {
  const environment = {
    PATH: [dirname(await builtProgram()), dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
    AGENTOS_HOME: home,
    AGENTOS_PASSWORD: "correct horse battery staple",
    AGENTOS_PRIVATE_KEY: privateKey,
    AGENTOS_RPC_URL: host.sandbox.chain.rpcUrl
  }
  let mailboxes = ""
  for (const code of await samplesOf("agentctl", "sh")) {
    // Packages are installed by the test of the downloads; a wallet is made once, and a purchase of a number is one each time.
    if (code.startsWith("npm ") || (!isFirst && /wallet create|number buy/.test(code))) continue
    const printed = await shell(code, environment)
    if (code.includes("mailbox create")) mailboxes = printed
  }
  return mailboxes
}

describe("the samples of the documentation", () => {
  it("of the client work, again, and with a second wallet", async () => {
    const [one, other] = [await SampleCustomer.create(host), await SampleCustomer.create(host)]
    const address = await runClientPage(one)
    expect(address).toMatch(/^ada-[0-9a-f]{6}@/)
    expect(await runClientPage(one)).toBe(address)
    expect(await runClientPage(other)).not.toBe(address)
  }, 240_000)

  it("of agentctl work, again, and with a second wallet", async () => {
    const [one, other] = [generatePrivateKey(), generatePrivateKey()]
    for (const privateKey of [one, other]) await host.customer(privateKey)
    const [home, otherHome] = [mkdtempSync(join(folder, "home-")), mkdtempSync(join(folder, "home-"))]
    const addressIn = (text: string): string => /ada-[0-9a-f]{6}@\S+/.exec(text)?.[0] ?? "none"
    const address = addressIn(await runAgentctlPage(one, home, true))
    expect(address).not.toBe("none")
    const again = await runAgentctlPage(one, home, false)
    expect([addressIn(again), again.includes("Paid")]).toEqual([address, false])
    const second = addressIn(await runAgentctlPage(other, otherHome, true))
    expect(["none", address]).not.toContain(second)
  }, 240_000)

  it("of the page about the packages print the hash that the server lists", async () => {
    const [code = ""] = await samplesOf("install", "sh")
    const printed = await shell(code, {})
    const [, listed] = /"@agentos\/client"[^}]*"sha256": "(\w+)"/.exec(printed) ?? []
    expect(printed).toMatch(new RegExp(`^${listed} +agentos-client\\.tgz$`, "m"))
  })
  it("cover every operation in the order of this test", () => {
    expect(ORDER.toSorted()).toEqual(operations.map(({ name }) => name).toSorted())
  })

  it("in curl are executed, for every operation", async () => {
    const owner = await SampleCustomer.create(host)
    for (const name of ORDER) {
      await owner.prepare(name)
      await executeCurl(owner, name)
    }
    // A second after the first: the samples are those of another purchase.
    for (const name of ["createMailbox", "purchaseUsNumber"] as const) await executeCurl(owner, name)
  })

  it("in curl are executed, for every guide on the API", async () => {
    const owner = await SampleCustomer.create(host)
    let count = 0
    for (const page of GUIDES) {
      for (const code of await samplesOf(page, "sh")) {
        if (!code.startsWith("curl")) continue
        count += 1
        expect(await shell(owner.filled(code), owner.environment)).toMatch(/^(?:\{"data":|HTTP\/1\.1 (?:402|428) )/)
      }
    }
    expect(count).toBeGreaterThan(5)
  })

  it("in TypeScript are executed, for every operation", async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner()
    try {
      for (const name of ORDER) {
        if (OPERATIONS[name].entry.authentication === "unavailable") continue
        await owner.prepare(name)
        if (name === "readPaymentStatus") await owner.signForMailbox()
        const [code = ""] = await samplesOf(`reference/${pageOf(name)}`, "ts")
        const ended = await runner.execute(owner.filled(code), privateKeyOf(owner), "ts")
        expect([name, ended]).toEqual([name, "ended"])
      }
    } finally {
      await runner.stop()
    }
  })

  it("in TypeScript and JavaScript are executed, for every guide on the API, and again", async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner()
    try {
      for (const page of [...GUIDES, ...GUIDES]) {
        for (const [language, extension] of [
          ["ts", "ts"],
          ["js", "mjs"]
        ] as const) {
          for (const code of await samplesOf(page, language)) {
            // This one answers mail until it is stopped; the next test shows it.
            if (code.includes("for await")) continue
            const ended = await runner.execute(owner.filled(code), privateKeyOf(owner), extension)
            expect([page, ended]).toEqual([page, "ended"])
          }
        }
      }
    } finally {
      await runner.stop()
    }
  })

  it("of the quickstart answer mail", async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner()
    const [code = ""] = (await samplesOf("quickstart", "js")).filter((each) => each.includes("for await"))
    runner.start(code, privateKeyOf(owner), "mjs")
    try {
      await expect.poll(() => runner.output).toMatch(/^\S+@\S+$/m)
      const [address = ""] = /^\S+@\S+$/m.exec(runner.output) ?? []
      await owner.receiveMail(address)
      await expect
        .poll(async () => (await owner.messagesOf(address)).map(({ direction }) => direction))
        .toContain("outbound")
    } finally {
      await runner.stop()
    }
  })

  it("of the webhooks receive an event, and refuse one that is not signed", async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner()
    const port = await freePort()
    const url = `http://localhost:${port}/`
    const { body } = await owner.customer.agent.send({ path: "/api/v1/events/webhook", body: { url } })
    const { signingSecret } = body.data as unknown as { readonly signingSecret: string }
    const [code = ""] = await samplesOf("webhooks", "js")
    runner.start(code, { SIGNING_SECRET: signingSecret, PORT: String(port) }, "mjs")
    try {
      await expect.poll(() => runner.output).toContain(`listening on ${port}`)
      expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(400)
      await expect.poll(() => runner.output, { timeout: SAMPLE_MILLIS }).toMatch(/^email\.received \S+$/m)
      await expect
        .poll(async () => (await owner.customer.events("email.received")).map(({ status }) => status))
        .toEqual(["acknowledged"])
    } finally {
      await runner.stop()
    }
  })

  it("of the sandbox plan a fault", async () => {
    const { relayFaultsUrl } = host.sandbox.mail
    mkdirSync(join(folder, ".agentos"))
    writeFileSync(join(folder, ".agentos", "sandbox.json"), JSON.stringify({ mail: { relayFaultsUrl } }))
    const [code = ""] = await samplesOf("sandbox", "sh")
    try {
      await shell(code, {})
      const planned = await fetch(`${relayFaultsUrl}/sandbox/faults`)
      expect(await planned.json()).toEqual({ faults: [{ operation: "send", mode: "before", times: 1 }] })
    } finally {
      await fetch(`${relayFaultsUrl}/sandbox/faults`, { method: "DELETE" })
    }
  })

  it("make a whole journey with a stock client: pay, receive, reply, acknowledge", async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner()
    const [code = ""] = await samplesOf("journey", "js")
    runner.start(owner.filled(code), privateKeyOf(owner), "mjs")
    try {
      await expect.poll(() => runner.output).toMatch(/^\S+@\S+$/m)
      const [address = ""] = /^\S+@\S+$/m.exec(runner.output) ?? []
      await owner.receiveMail(address)
      await expect.poll(() => runner.output).toMatch(/^acknowledged \S+$/m)
      const messages = await owner.messagesOf(address)
      expect(messages.map(({ direction }) => direction)).toEqual(["outbound", "inbound"])
      expect(new Set(messages.map(({ threadId }) => threadId)).size).toBe(1)
      const [, eventId] = /^acknowledged (\S+)$/m.exec(runner.output) ?? []
      const received = await owner.customer.events("email.received")
      expect(received.find((event) => event.eventId === eventId)?.status).toBe("acknowledged")
    } finally {
      await runner.stop()
    }
  })

  it.skipIf(python === undefined)(`in Python are executed where they are free${pythonReason}`, async () => {
    const owner = await SampleCustomer.create(host)
    const runner = new ProgramRunner(python ?? "", "-u", PYTHON_RUNNER)
    try {
      for (const name of ORDER) {
        const { authentication, path, price } = OPERATIONS[name].entry
        if (price !== null || authentication === "unavailable") continue
        await owner.prepare(name)
        if (name === "getCall") await owner.prepare("extendCall")
        if (name === "readPaymentStatus") await owner.signForMailbox()
        const signIn = authentication === "sign-in-with-x" ? await owner.signIn(`${host.sandbox.baseUrl}${path}`) : ""
        const [code = ""] = await samplesOf(`reference/${pageOf(name)}`, "python")
        const before = runner.output.length
        const ended = await runner.execute(owner.filled(code), { ...owner.environment, SIGN_IN_WITH_X: signIn }, "py")
        expect([name, ended]).toEqual([name, "ended"])
        const printed = runner.output.slice(before).replace(/^ended .*$/m, "")
        expect([name, printed.trim()]).not.toEqual([name, ""])
      }
    } finally {
      await runner.stop()
    }
  })

  it("in Python are compiled where they cost, and say that they are not executed", async () => {
    const paid = operations.filter(({ entry }) => entry.price !== null).map(({ name }) => `reference/${pageOf(name)}`)
    const files: Array<string> = []
    for (const page of ["quickstart", ...paid]) {
      const [code = ""] = await samplesOf(page, "python")
      const file = join(folder, `${page.replaceAll("/", "-")}.py`)
      writeFileSync(file, code)
      files.push(file)
      const text = await (await fetch(`${host.sandbox.baseUrl}/docs/${page}.md`)).text()
      expect(text.replaceAll("\n", " ")).toContain("is compiled, but not executed, by the tests")
    }
    await run(python ?? "python3", ["-m", "py_compile", ...files])
  })
})
