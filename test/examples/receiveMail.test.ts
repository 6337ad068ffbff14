import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { createTransport } from "nodemailer"
import { expect, it, onTestFinished, vi } from "vitest"
import { Agent } from "../support/Agent.ts"
import { startSandbox } from "../support/Sandbox.ts"

const EXAMPLE = fileURLToPath(new URL("../../examples/receive-mail/src/main.ts", import.meta.url))

/** Starts the example, which ends by itself, and answers what it has printed so far. */
const startExample = (args: ReadonlyArray<string>, environment: Record<string, string> = {}) => {
  const child: ChildProcess = spawn(process.execPath, [EXAMPLE, ...args], { env: { ...process.env, ...environment } })
  onTestFinished(() => void child.kill("SIGKILL"))
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (printed += text))
  }
  const address = () =>
    vi.waitFor(
      () => {
        const found = /waiting for mail to (\S+)/.exec(printed)?.[1]
        if (found === undefined) throw new Error(`no address in: ${printed}`)
        return found
      },
      { timeout: 30_000, interval: 50 }
    )
  return { address, printed: () => printed, exit: once(child, "exit") }
}

it("pays for a mailbox, receives mail and acknowledges it", async () => {
  const sandbox = await startSandbox()
  onTestFinished(async () => void (await sandbox.stop()))
  const { baseUrl, mail, wallets } = await sandbox.describe()
  const transport = createTransport({ host: mail.host, port: mail.port, tls: { rejectUnauthorized: false } })
  const send = (to: string, text: string) =>
    transport.sendMail({ from: "you@outside.example", to, subject: "Hi", text })

  const byFile = startExample(["--max", "2", "--sandbox", `${sandbox.directory}/sandbox.json`])
  const address = await byFile.address()
  await send(address, "the first")
  await send(address, "the second")
  expect(await byFile.exit).toEqual([0, null])
  expect(byFile.printed()).toMatch(/from you@outside\.example: Hi\nthe first\n[^]*the second/)

  const { privateKey } = wallets[1]!
  const byEnvironment = startExample(["--max", "1"], { AGENTOS_BASE_URL: baseUrl, AGENTOS_PRIVATE_KEY: privateKey })
  await send(await byEnvironment.address(), "the third")
  expect(await byEnvironment.exit).toEqual([0, null])
  expect(byEnvironment.printed()).toMatch(/the third/)

  // Nothing is left to be told: it was all acknowledged.
  const agent = new Agent(await sandbox.describe(), wallets[0]!.privateKey)
  await agent.createMailbox("onlooker")
  const events = await agent.send({ path: "/api/v1/events" })
  const items = events.body.data["items"] as unknown as ReadonlyArray<{ readonly type: string }>
  expect(items.filter(({ type }) => type === "email.received")).toEqual([])
})
