import type { SandboxDescription } from "@agentos/sandbox"
import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { createTransport } from "nodemailer"
import { assert } from "vitest"
import { type CliCustomer, type CliRig, type Outcome, outcomeOf } from "../CliRig.ts"
import { type Manner, PaidProxy } from "../PaidProxy.ts"
import { Terminal } from "../Terminal.ts"
import { Masks, type Reader, throughPipes } from "./Golden.ts"

/** A shell line that runs agentctl, and the events while it runs. */
export interface Scene {
  /** The text after `agentctl`. */
  readonly args: string
  readonly exit: number
  /** Variables before the command. */
  readonly env?: Readonly<Record<string, string>>
  /** The file on standard input, or `endless`. By default the terminal, or nothing. */
  readonly stdin?: string
  /** The keys after each question: tmux names or text. */
  readonly answers?: ReadonlyArray<readonly [asked: string, ...keys: ReadonlyArray<string>]>
  /** When Ctrl-C is pressed: while the server, the chain or a payment is not answered, or after this output. */
  readonly interrupt?: "server" | "chain" | "payment" | { readonly said: string }
  /** How the proxy handles requests meanwhile. */
  readonly manner?: Manner
  /** The expected charge in base units. By default none. With exit code 8, after the payment is resumed. */
  readonly price?: bigint
  /** Preparation whose output is not recorded. */
  readonly before?: () => Promise<unknown>
}

/** Returns the line, with the flags that programs add. */
export const lineOf = ({ args, env = {}, stdin }: Scene, more: string): string =>
  [
    ...(stdin === "endless" ? ["sh endless |"] : []),
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    `agentctl ${args}${more}`,
    ...(stdin === undefined || stdin === "endless" ? [] : [`< ${stdin}`])
  ].join(" ")

export const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url))

/** The password of all keystores. */
export const PASSWORD = "correct horse"

/** Writes more than a pipe holds, reports when it is read, and does not end. */
const ENDLESS = `head -c 200000 /dev/zero | tr '\\0' x
echo "Reading started." >&2
sleep 60
`

/** A customer with a shell and proxies to the sandbox. Commands run one after the other. */
export class Stage {
  readonly reader: Reader
  readonly sandbox: SandboxDescription
  readonly customer: CliCustomer
  /** Texts that must not be printed. */
  readonly secrets: Array<string> = []
  private readonly server: PaidProxy
  private readonly chain: PaidProxy
  /** The working directory of the shell. */
  folder: string
  private terminal: Terminal | undefined

  private constructor(
    reader: Reader,
    sandbox: SandboxDescription,
    { chain, customer, server }: { customer: CliCustomer; server: PaidProxy; chain: PaidProxy }
  ) {
    this.reader = reader
    this.sandbox = sandbox
    this.customer = customer
    this.folder = customer.home
    this.server = server
    this.chain = chain
    this.secrets.push(customer.env["AGENTOS_PRIVATE_KEY"]!.slice(2), PASSWORD)
    this.put("endless", ENDLESS)
  }

  /** Creates a customer with 100 USDT and proxies. */
  static async open(rig: CliRig, reader: Reader): Promise<Stage> {
    const { sandbox } = rig
    const server = await PaidProxy.start(sandbox.baseUrl)
    const chain = await PaidProxy.start(sandbox.chain.rpcUrl)
    const customer = await rig.customer({ baseUrl: server.url, rpcUrl: chain.url })
    return new Stage(reader, sandbox, { customer, server, chain })
  }

  /** Closes the shell and the proxies. */
  async close(): Promise<void> {
    await this.terminal?.close()
    await this.server.stop()
    await this.chain.stop()
  }

  /** Returns a name for this reader: a person and a program cannot own the same mailbox. */
  called(name: string): string {
    return `${name}-${this.reader}`
  }

  /** Returns the address of the mailbox with that name. */
  addressOf(name: string): string {
    return `${this.called(name)}@${this.sandbox.emailDomain}`
  }

  /** Writes a file with mode 0600 into the home, which is the folder of the shell. */
  put(name: string, text: string): void {
    writeFileSync(join(this.customer.home, name), text, { mode: 0o600 })
  }

  /** Runs a command without recording it and returns its document. */
  async ask<Document>(...args: ReadonlyArray<string>): Promise<Document> {
    const { code, stderr, stdout } = await this.customer.runHere([...args, "--json"])
    assert.strictEqual(code, 0, `${args.join(" ")}\n${stderr}`)
    return JSON.parse(stdout) as Document
  }

  /** Also saves the wallet as a keystore of that name. */
  async keep(name: string): Promise<void> {
    this.put("key", this.customer.env["AGENTOS_PRIVATE_KEY"]!)
    const args = ["wallet", "import", "key", "--output", join(this.customer.home, name)]
    const { code, stderr } = await this.customer.runHere(args, { env: { AGENTOS_PASSWORD: PASSWORD } })
    assert.strictEqual(code, 0, stderr)
  }

  /** Buys something without recording it. */
  buy(...args: ReadonlyArray<string>): Promise<unknown> {
    return this.ask(...args, "--yes", "--max-amount", "5")
  }

  /** Leaves an open payment: the server has it, but the program was killed before the answer. */
  async leaveOpen(name: string): Promise<void> {
    const args = ["mailbox", "create", this.called(name), "--yes", "--max-amount", "0.25"]
    const held = this.hold("payment")
    const { child, outcome } = this.customer.follow(args)
    await held
    child.kill("SIGKILL")
    await outcome
    this.server.manner = "through"
  }

  /** Returns the access token of the first purchase. */
  token(): string {
    const text = readFileSync(join(this.customer.home, "credentials.json"), "utf8")
    const [token] = /at_v1_\w+/.exec(text) ?? []
    if (token === undefined) throw new Error("no token saved")
    return token
  }

  /** Sends mail from an unverified sender to a mailbox and waits for its arrival. */
  async receive(name: string, subject: string, text: string): Promise<void> {
    const { host, port } = this.sandbox.mail
    const transport = createTransport({ host, port, secure: false, ignoreTLS: true })
    await transport.sendMail({ from: "bob@stranger.example", to: this.addressOf(name), subject, text })
    const [word = ""] = subject.split(" ")
    await this.ask("mail", "wait", "--mailbox", this.addressOf(name), "--subject", word)
  }

  /** Returns the names of the values of this stage and of the sandbox. */
  masks(): Masks {
    const { address, home } = this.customer
    const { agentWebhookUrl, baseUrl, chain } = this.sandbox
    const host = (url: string) => url.replace("http://", "")
    return new Masks([
      [home, "~"],
      [this.server.url, "http://server"],
      [baseUrl, "http://sandbox"],
      [agentWebhookUrl, "http://agent"],
      [host(this.chain.url), "chain"],
      [address, "<wallet>"],
      [chain.asset, "<token>"],
      [chain.payTo, "<pay-to>"],
      [process.versions.node, "<node>"]
    ])
  }

  /**
   * Plays a scene and returns its line, output and exit code. A payment that stays open is resumed. Checks the charge.
   */
  async play(scene: Scene, more = ""): Promise<string> {
    const before = await this.customer.charges()
    await scene.before?.()
    const text = await this.perform(scene, more)
    const rest = scene.exit === 8 ? `\n${await this.perform({ args: "payments resume", exit: 0 }, "")}` : ""
    const charged = (await this.customer.charges()).slice(before.length)
    assert.deepStrictEqual(charged, scene.price === undefined ? [] : [scene.price], text)
    return text + rest
  }

  private async perform(scene: Scene, more: string): Promise<string> {
    this.server.manner = scene.manner ?? "through"
    const { exit, text } = this.reader === "person" ? await this.onScreen(scene) : await this.throughPipes(scene, more)
    this.server.manner = "through"
    this.chain.manner = "through"
    assert.strictEqual(exit, scene.exit, text)
    for (const secret of this.secrets) assert.notInclude(text, secret)
    assert.notMatch(text, /at_v1_\w{20}/)
    return text
  }

  private async onScreen(scene: Scene): Promise<Played> {
    this.terminal ??= await Terminal.open({ cwd: this.folder, env: this.customer.env })
    const { terminal } = this
    const held = this.hold(scene.interrupt)
    await terminal.type(lineOf(scene, ""))
    for (const [asked, ...keys] of scene.answers ?? []) {
      await terminal.until(asked)
      await terminal.press(...keys)
    }
    if (scene.interrupt !== undefined) {
      await (typeof scene.interrupt === "object" ? terminal.until(scene.interrupt.said) : held)
      await terminal.press("C-c")
    }
    const { exit, text } = await terminal.ended()
    return { exit, text: `$ ${text}[exit ${exit}]\n` }
  }

  /** Resolves when the interruption can be sent. */
  private hold(interrupt: Scene["interrupt"]): Promise<void> {
    const proxy = interrupt === "chain" ? this.chain : this.server
    return new Promise((resolve) => {
      proxy.onHeld = resolve
      if (interrupt === "server" || interrupt === "chain") proxy.manner = "silent"
      if (interrupt === "payment") proxy.manner = "holds"
    })
  }

  private async throughPipes(scene: Scene, more: string): Promise<Played> {
    const line = lineOf(scene, `${more} --json`)
    const seen = needsProcess(scene) ? await this.inShell(line) : await this.here(scene, more)
    return { exit: seen.code, text: throughPipes(line, seen) }
  }

  private inShell(line: string): Promise<Outcome> {
    const { env } = this.customer
    return outcomeOf(spawn("sh", ["-c", line], { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] }))
  }

  private here({ args, env = {}, stdin }: Scene, more: string): Promise<Outcome> {
    const read = stdin === undefined ? {} : { stdin: readFileSync(resolve(this.folder, stdin), "utf8") }
    return this.customer.runHere(wordsOf(`${args}${more} --json`), { cwd: this.folder, env, ...read })
  }
}

/** Whether the command starts other programs, or reads until it is interrupted. */
const needsProcess = ({ args, stdin }: Scene): boolean => /^dev\b|--exec\b/.test(args) || stdin === "endless"

/** Splits a line like a shell that expands nothing. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? "")
  )

interface Played {
  readonly exit: number | null
  readonly text: string
}
