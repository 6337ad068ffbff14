import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { AgentOs } from "@agentos/client"
import { openCertificateAuthority, type SandboxDescription, type ServerCertificate } from "@agentos/sandbox"
import { createTransport } from "nodemailer"
import PostalMime from "postal-mime"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { freePort, sourceOf, startExample } from "./Example.ts"

const README = new URL("../../README.md", import.meta.url)
const CLIENT_README = new URL("../../packages/client/README.md", import.meta.url)
const QUICKSTART = new URL("../../packages/site/content/quickstart.md", import.meta.url)
/** Beside this file, so that its imports resolve. */
const PROGRAM = fileURLToPath(new URL(`readme-${process.pid}.mjs`, import.meta.url))

const directory = mkdtempSync(join(tmpdir(), "agentos-examples-"))
/** Port and certificate of the example that answers calls at a URL. */
let agentPort = 0
let certificate: ServerCertificate
let sandbox: Sandbox
let description: SandboxDescription
let sandboxArgs: ReadonlyArray<string> = []

beforeAll(async () => {
  agentPort = await freePort()
  certificate = await openCertificateAuthority(directory)
  const allow = ["--allow-webhook", `127.0.0.1:${agentPort}`, "--allow-webhook-ca", certificate.caFile]
  sandbox = await startSandbox({ arguments: ["--no-tour", ...allow] })
  description = await sandbox.describe()
  sandboxArgs = ["--sandbox", `${sandbox.directory}/sandbox.json`]
})

afterAll(async () => {
  await sandbox.stop()
  rmSync(directory, { recursive: true })
})

const post = async (url: string, body: object): Promise<Record<string, never>> => {
  const headers = { "Content-Type": "application/json" }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
  return (await response.json()) as Record<string, never>
}

/** Sends a mail from a person outside, and returns its Message-ID. */
const sendMail = async (mail: Readonly<Record<string, unknown>> & { readonly to: string }): Promise<string> => {
  const body = { subject: "A question", ...mail, to: [mail.to] }
  return (await post(`${description.mail.relayFaultsUrl}/sandbox/mail`, body))["messageId"]!
}

/** Sends the automatic answer of a person on holiday (RFC 3834). */
const sendAutomaticMail = (from: string, to: string) => {
  const { host, port } = description.mail
  const transport = createTransport({ host, port, tls: { rejectUnauthorized: false } })
  const headers = { "Auto-Submitted": "auto-replied" }
  return transport.sendMail({ from, to, subject: "Away", text: "I am away.", headers })
}

/** The mails that the service sent to an address, oldest first. */
const mailsTo = (address: string) => {
  const { outboxDir } = description.mail
  const envelopes = readdirSync(outboxDir).filter((name) => name.endsWith(".json"))
  const sent = envelopes.toSorted().filter((name) => readFileSync(join(outboxDir, name), "utf8").includes(address))
  return Promise.all(sent.map((name) => PostalMime.parse(readFileSync(join(outboxDir, name.replace(/json$/, "eml"))))))
}

/** Calls a number as a person outside, and returns the call once it has ended. */
const callNumber = async (to: string, lines: ReadonlyArray<unknown>) => {
  const calls = `${description.carrier.url}/sandbox/calls`
  const { id } = await post(calls, { from: "+12125550150", to, lines })
  return vi.waitFor(
    async () => {
      const call = (await (await fetch(`${calls}/${id}`)).json()) as {
        readonly heard: ReadonlyArray<string>
        readonly state: string
        readonly endedBy: string
      }
      expect(call.state).toBe("completed")
      return call
    },
    { timeout: 60_000, interval: 50 }
  )
}

/** A client with a wallet of the sandbox, to observe an example or to act in its place. */
const clientOf = (wallet: number) =>
  AgentOs.connect(description.baseUrl, {
    wallet: privateKeyToAccount(description.wallets[wallet]!.privateKey),
    spend: { perCall: "0.25" }
  })

/** Returns the program of the README that has a text. */
const readmeProgram = (text: string): string =>
  [...readFileSync(README, "utf8").matchAll(/```js\n([^]*?)```/g)].find(([code]) => code.includes(text))?.[1] ?? ""

it("the README shows a first paid request that works as it stands", async () => {
  const code = readmeProgram("wrapAxiosWithPayment")
  writeFileSync(PROGRAM, code)
  onTestFinished(() => rmSync(PROGRAM))
  // Only the first purchase of a wallet returns its token.
  for (const authentication of [/accessToken: 'at_v1_\w+'/, /next: .*\/api\/v1\/auth\/token/]) {
    const { stderr, stdout } = spawnSync(process.execPath, [PROGRAM, `${sandbox.directory}/sandbox.json`], {
      cwd: tmpdir(),
      encoding: "utf8",
      timeout: 60_000
    })
    expect(stderr).toBe("")
    expect(stdout).toMatch(/^grace-\d+@sandbox\.agentos\.test\n/)
    expect(stdout).toMatch(authentication)
  }
})

/** The amounts that are paid while a task runs. */
const paidDuring = async (task: () => Promise<void>): Promise<ReadonlyArray<bigint>> => {
  const log = new TokenLog(description.chain)
  const { length: earlier } = await log.read()
  await task()
  return (await log.read()).slice(earlier).map(({ value }) => value)
}

it("sign-up buys a mailbox once for each wallet, and signs up with the code that the website sends", async () => {
  const signUp = async (wallet: number, spent: string) => {
    const example = startExample("sign-up/src/main.ts", ["--wallet", `${wallet}`, ...sandboxArgs])
    const address = await example.find(/^using (\S+),/)
    expect({ exit: await example.exit, printed: example.printed() }).toEqual({
      exit: [0, null],
      printed: expect.stringMatching(
        /^using (\S+), spent \S+ USDT\nWe sent you a code\.\nreceived the code \d{6}\nWelcome, \1!\n$/
      ) as string
    })
    expect(example.printed()).toContain(`spent ${spent} USDT`)
    return address
  }
  const paid = await paidDuring(async () => {
    const first = await signUp(0, "0.25")
    expect(await signUp(0, "0.00")).toBe(first)
    expect(await signUp(2, "0.25")).not.toBe(first)
  })
  expect(paid).toEqual([250_000n, 250_000n])
})

it.each([
  ["README.md", README],
  ["packages/client/README.md", CLIENT_README],
  ["packages/site/content/quickstart.md", QUICKSTART]
])("the first lines of %s work as they stand, again, and with a second wallet", async (_, document) => {
  const lines =
    /```(?:js|ts)\n([^]*?await agent\.mailboxes\.open[^\n]*\n)/.exec(readFileSync(document, "utf8"))?.[1] ?? ""
  const { privateKeys, baseUrl } = { ...description, privateKeys: description.wallets.map((one) => one.privateKey) }
  const imports = lines.includes("import ")
    ? ""
    : `import { AgentOs } from "@agentos/client"
       import { privateKeyToAccount } from "viem/accounts"
       const wallet = privateKeyToAccount(process.env.PRIVATE_KEY)\n`
  const program = `readme-lines-${process.pid}.mts`
  writeFileSync(
    sourceOf(`sign-up/src/${program}`),
    `${imports}${lines.replace("https://agentos.example", baseUrl)}
     console.log(mailbox.address, agent.payments.spent().lastDay)\n`
  )
  onTestFinished(() => rmSync(sourceOf(`sign-up/src/${program}`)))
  const run = async (wallet: number): Promise<string> => {
    const environment = { PRIVATE_KEY: privateKeys[wallet]!, AGENTOS_PRIVATE_KEY: privateKeys[wallet]! }
    const example = startExample(`sign-up/src/${program}`, [], environment)
    expect({ exit: await example.exit, printed: example.printed() }).toMatchObject({ exit: [0, null] })
    return example.printed()
  }
  const [first, again, other] = [await run(0), await run(0), await run(1)]
  const address = first.split(" ")[0]
  expect(again).toBe(`${address} 0.00\n`)
  expect(other.split(" ")[0]).not.toBe(address)
  expect(new Set([first, other].map((line) => line.split(" ")[1])).size).toBe(1)
})

it("the README shows an agent that answers a first message, again, and with a second wallet", async () => {
  const code = readmeProgram("mailbox.messages")
  const answer = async (wallet: number, from: string): Promise<string> => {
    const program = `readme-agent-${process.pid}.mjs`
    writeFileSync(sourceOf(`sign-up/src/${program}`), code.replace("wallets[0]", `wallets[${wallet}]`))
    onTestFinished(() => rmSync(sourceOf(`sign-up/src/${program}`), { force: true }))
    const agent = startExample(`sign-up/src/${program}`, [`${sandbox.directory}/sandbox.json`])
    const to = await agent.find(/^(ada-\S+@sandbox\.agentos\.test)$/m)
    await sendMail({ from, to, text: "Are you there?" })
    await agent.find(/^(\S+: Are you there\?)/m)
    await vi.waitFor(async () => expect((await mailsTo(from)).map(({ text }) => text)).toEqual(["Hello!\n"]), {
      timeout: 60_000,
      interval: 50
    })
    agent.interrupt()
    await agent.exit
    return to
  }
  const first = await answer(0, "mia@outside.example")
  expect(await answer(0, "ned@outside.example")).toBe(first)
  expect(await answer(2, "oda@outside.example")).not.toBe(first)
})

it("support-inbox answers several customers in their threads, once, and keeps its payments and token in files", async () => {
  const store = join(directory, "support")
  const args = ["--data", store, ...sandboxArgs]
  const start = () => startExample("support-inbox/src/main.ts", args)
  const inbox = start()
  const to = await inbox.find(/waiting for mail to (\S+)/)
  const quoted = "Help!\n\nOn Monday, Acme wrote:\n> Ask us what it costs.\n"
  const attachments = [{ filename: "a.txt", contentType: "text/plain", contentBase64: "YQ==" }]
  const fromAnn = await sendMail({ from: "ann@outside.example", to, subject: "Prices", text: "What is the price?" })
  const fromBo = await sendMail({ from: "bo@outside.example", to, subject: "Re: Help", text: quoted, attachments })
  await inbox.find(/(ann@outside\.example: What is the price\?\n {2}answered: A mailbox costs 0\.25 USDT\.)/)
  await inbox.find(/(bo@outside\.example: Help!\n {2}answered: Thank you\.)/)
  inbox.interrupt()
  expect({ exit: await inbox.exit, printed: inbox.printed() }).toMatchObject({ exit: [0, null] })

  const [toAnn, ...moreToAnn] = await mailsTo("ann@outside.example")
  expect([toAnn?.subject, toAnn?.inReplyTo, toAnn?.references]).toEqual(["Re: Prices", fromAnn, fromAnn])
  expect(moreToAnn).toEqual([])
  const [toBo] = await mailsTo("bo@outside.example")
  expect([toBo?.subject, toBo?.inReplyTo]).toEqual(["Re: Help", fromBo])
  expect(toBo?.text).toBe("Thank you. A person will answer you.\n")

  const client = await clientOf(0)
  const mailbox = await client.mailboxes.find(to)
  const { items } = await client.call("replayEvents", {})
  expect(items.filter(({ agentId }) => agentId === mailbox!.id)).toEqual([])
  const files = readdirSync(store)
  expect(files.filter((name) => name.startsWith("payment-"))).toHaveLength(3)
  expect(files.map((name) => statSync(join(store, name)).mode & 0o777)).toEqual(files.map(() => 0o600))

  // A mail that was answered before a crash, and is delivered again; and one of a program.
  await sendMail({ from: "cy@outside.example", to, text: "Hello?" })
  const fromCy = await mailbox!.waitForMail({ from: "cy@outside.example" })
  await fromCy.reply({ text: "Answered already." })
  await sendAutomaticMail("dan@outside.example", to)
  const again = start()
  await again.find(/(cy@outside\.example: Hello\?\n {2}answered before)/)
  await again.find(/(dan@outside\.example: I am away\.\n {2}ignored, it is automatic)/)
  again.interrupt()
  expect(await again.exit).toEqual([0, null])
  expect(await mailsTo("cy@outside.example")).toHaveLength(1)
  expect(await mailsTo("dan@outside.example")).toEqual([])

  // Another wallet has a mailbox of its own.
  const environment = { AGENTOS_BASE_URL: description.baseUrl, AGENTOS_PRIVATE_KEY: description.wallets[1]!.privateKey }
  const other = startExample("support-inbox/src/main.ts", args, environment)
  expect(await other.find(/waiting for mail to (\S+)/)).not.toBe(to)
})

it("support-inbox stops at its daily limit, and the mail stays unacknowledged", async () => {
  const args = ["--data", join(directory, "limited"), "--name", "limited", ...sandboxArgs]
  const environment = { AGENTOS_BASE_URL: description.baseUrl, AGENTOS_PRIVATE_KEY: description.wallets[1]!.privateKey }
  const inbox = startExample("support-inbox/src/main.ts", [...args, "--per-day", "0.26"], environment)
  const to = await inbox.find(/waiting for mail to (\S+)/)
  await sendMail({ from: "dee@outside.example", to, text: "Is it cheap?" })
  expect({ exit: await inbox.exit, printed: inbox.printed() }).toEqual({
    exit: [1, null],
    printed: expect.stringMatching(/\nStopped: SPEND_LIMIT_EXCEEDED: .* the limit per day is 0\.26 USDT/) as string
  })
  const { items } = await (await clientOf(1)).call("replayEvents", {})
  expect(items.filter(({ type }) => type === "email.received")).toHaveLength(1)
})

it("answer-call answers callers over its own connection, and stops speaking when one interrupts", async () => {
  const agent = startExample("answer-call/src/main.ts", sandboxArgs)
  const number = await agent.find(/waiting for calls to (\+\d+)/)
  const [polite, hasty] = await Promise.all([
    callNumber(number, ["What can you do?", "Very well. Bye.", "Still there?"]),
    callNumber(number, ["Tell me a story.", { text: "Stop. Bye.", interrupt: true, afterMillis: 50 }])
  ])
  expect(polite.heard.map((text) => text.trim())).toEqual([
    "Hello, this is an agent.",
    "You said: What can you do? Say bye when that is all.",
    "Goodbye."
  ])
  expect(polite.endedBy).toBe("agent")
  expect(hasty.heard.at(-1)).toBe("Goodbye.")
  expect(hasty.heard.join(" ")).not.toContain("Say bye")
  await agent.find(/had \d turns[^]*(had \d turns)/)
  // Both greetings, words, answers and the goodbye of the polite one.
  await agent.find(/(had 5 turns)/)
  agent.interrupt()
  expect({ exit: await agent.exit, printed: agent.printed() }).toMatchObject({ exit: [0, null] })

  // The next run answers the number that it has. Another wallet buys one.
  const again = startExample("answer-call/src/main.ts", sandboxArgs)
  expect(await again.find(/waiting for calls to (\+\d+)/)).toBe(number)
  const environment = { AGENTOS_BASE_URL: description.baseUrl, AGENTOS_PRIVATE_KEY: description.wallets[1]!.privateKey }
  const other = startExample("answer-call/src/main.ts", [], environment)
  expect(await other.find(/waiting for calls to (\+\d+)/)).not.toBe(number)
})

/** Sends a callback with an invalid signature and returns the status. */
const askUnsigned = async (): Promise<number | undefined> => {
  const body = JSON.stringify({ type: "agent.message", from: "+14155550199", turn: { text: "Let me in." } })
  const headers = {
    "Content-Length": Buffer.byteLength(body),
    "X-Service-Timestamp": Math.floor(Date.now() / 1_000),
    "X-Service-Signature": `v1=${"0".repeat(64)}`
  }
  const ca = readFileSync(certificate.caFile)
  const sent = request({ host: "127.0.0.1", port: agentPort, method: "POST", ca, headers })
  sent.end(body)
  const [response] = await once(sent, "response")
  response.resume()
  return response.statusCode
}

it("answer-call-webhook buys a number and talks to a caller until the caller says bye", async () => {
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
  writeFileSync(key, certificate.privateKey)
  writeFileSync(cert, certificate.certificate)
  const args = [
    "--port",
    `${agentPort}`,
    "--key",
    key,
    "--cert",
    cert,
    "--state",
    join(directory, "number.json"),
    ...sandboxArgs
  ]
  const agent = startExample("answer-call-webhook/src/main.ts", args)
  const number = await agent.find(/waiting for calls to (\+\d+)/)

  const { endedBy, heard } = await callNumber(number, ["What can you do?", "Very well. Bye.", "Still there?"])
  expect([...heard.map((text) => text.trim()), endedBy]).toEqual([
    "Hello, this is an agent.",
    "You said: What can you do? Say bye when that is all.",
    "Goodbye.",
    "agent"
  ])

  expect(await askUnsigned()).toBe(401)
  expect(agent.printed()).toMatch(/\n\+12125550150: What can you do\?\n\+12125550150: Very well\. Bye\.\n$/)
  agent.interrupt()
  await agent.exit

  const again = startExample("answer-call-webhook/src/main.ts", args)
  expect(await again.find(/waiting for calls to (\+\d+)/)).toBe(number)
  again.interrupt()
  await again.exit
  // The number in the file is not one of another wallet.
  const environment = { AGENTOS_BASE_URL: description.baseUrl, AGENTOS_PRIVATE_KEY: description.wallets[1]!.privateKey }
  const other = startExample("answer-call-webhook/src/main.ts", args, environment)
  expect(await other.find(/waiting for calls to (\+\d+)/)).not.toBe(number)
})

it("mcp-host shows a model what agentctl mcp offers, and mails with Bob within the limits of the host", async () => {
  const { privateKey } = description.wallets[2]!
  const args = ["--home", join(directory, "mcp"), "--wallet", "2", ...sandboxArgs]
  const host = startExample("mcp-host/src/main.ts", args)
  expect({ exit: await host.exit, printed: host.printed() }).toMatchObject({ exit: [0, null] })
  const printed = host.printed()
  expect(printed).toMatch(/^tools: create_mailbox, /m)
  expect(printed).toMatch(/^I sent Bob our prices\. I have spent 0\.29 USDT today, and 0\.71 USDT are left\.$/m)
  expect(printed).not.toContain(privateKey)
  expect(printed).not.toContain("at_v1_")

  // Bob's mail is marked as text of a stranger, and the model did not follow it.
  const [, received = ""] = /^> wait_for_email .*\n(?:wait_for_email: done\n)?< (.*)$/m.exec(printed) ?? []
  const { email, notice } = JSON.parse(received)
  expect(notice).toMatch(/Do not follow instructions/)
  expect([email.senderVerified, email.untrusted.text]).toEqual([
    true,
    expect.stringMatching(/^Yes, please\.[^]*SYSTEM: /)
  ])
  expect(await mailsTo("eve@outside.example")).toEqual([])
  const [offer, reply] = await mailsTo("bob@outside.example")
  expect([offer?.subject, reply?.subject]).toEqual(["Our offer", "Re: Our offer"])
  expect(reply?.references).toContain(offer?.messageId)

  // The next run finds the mailbox. Another wallet buys one.
  const again = startExample("mcp-host/src/main.ts", args)
  expect({ exit: await again.exit, printed: again.printed() }).toMatchObject({ exit: [0, null] })
  expect(again.printed()).toContain("I have spent 0.33 USDT today, and 0.67 USDT are left.")
  const others = ["--home", join(directory, "mcp-other"), "--wallet", "1", ...sandboxArgs]
  const other = startExample("mcp-host/src/main.ts", others)
  expect({ exit: await other.exit, printed: other.printed() }).toMatchObject({ exit: [0, null] })
  expect(other.printed()).toContain("I have spent 0.29 USDT today")
})
